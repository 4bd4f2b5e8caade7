// Names of functions as people write them, from those of the compiler: close enough to see what is what, without the
// arguments of generics that the second scheme has.

const SIGNS = {
  LT: "<",
  GT: ">",
  RF: "&",
  BP: "*",
  C: ",",
  u20: " ",
  u27: "'",
  u5b: "[",
  u5d: "]",
  u7b: "{",
  u7d: "}",
  LP: "(",
  RP: ")",
};

export function demangle(name) {
  if (name.startsWith("_ZN")) return legacy(name.slice(3));
  if (name.startsWith("_R")) return second(name.slice(2));
  return name;
}

/** rustc's older scheme: parts with their lengths, the last of them a hash. */
function legacy(rest) {
  const parts = [];
  for (let match = rest.match(/^\d+/); match; match = rest.match(/^\d+/)) {
    const from = match[0].length;
    parts.push(rest.slice(from, from + Number(match[0])));
    rest = rest.slice(from + Number(match[0]));
  }
  return parts
    .slice(0, -1)
    .map((part) =>
      part
        .replace(/^_(?=\$)/, "")
        .replace(/\$(\w+)\$/g, (all, sign) => SIGNS[sign] ?? all)
        .replaceAll("..", "::"),
    )
    .join("::");
}

/** RFC 2603: identifiers with their lengths among what is no name; crates, and what else is alike, have a base-62 number. */
function second(rest) {
  const parts = [];
  const left = rest.replace(/(?<=[A-Z])s[0-9A-Za-z]*_(?=\d)/g, "");
  for (let at = left.search(/\d/); at >= 0; ) {
    const length = left.slice(at).match(/^\d+/)[0];
    const from = at + length.length + (left[at + length.length] === "_" ? 1 : 0);
    parts.push(left.slice(from, from + Number(length)));
    const next = left.slice(from + Number(length)).search(/\d/);
    at = next < 0 ? -1 : from + Number(length) + next;
  }
  return parts.join("::");
}
