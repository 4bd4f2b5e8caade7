// What scripts write into the READMEs stands between markers, such as `<!-- sizes -->` and `<!-- /sizes -->`.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Failure, root } from "./run.mjs";

const ALL = ["README.md", "pkg-template/README.md"];

/**
 * Writes the contents, by the name of their marker, into the READMEs; with `--check` it only compares them.
 *
 * @param {Record<string, string>} contents  each README has at least one of them
 * @param {{ what: string, script: string, readmes?: string[], alike?: (before: string, after: string) => boolean }} how
 */
export function fillReadmes(contents, { what, script, readmes = ALL, alike = (before, after) => before === after }) {
  for (const name of readmes) {
    const file = path.join(root, name);
    const before = readFileSync(file, "utf8");
    const after = fill(before, contents);
    if (!process.argv.includes("--check")) writeFileSync(file, after);
    else if (!alike(before, after)) throw new Failure(`${what} in ${name} are out of date`, `Run: node ${script}`);
  }
}

/** The text with what stands between the markers made new. */
function fill(text, contents) {
  const names = Object.keys(contents);
  let found = false;
  const filled = text.replace(markers(names), (_, begin, name, end) => {
    found = true;
    return begin + contents[name] + end;
  });
  if (!found) throw new Failure(`there is no ${names.map((name) => `\`<!-- ${name} -->\``).join(" and no ")}`);
  return filled;
}

/** What is between markers of these names, with them. */
export const markers = (names) => new RegExp(`(<!-- (${names.join("|")}) -->).*?(<!-- /\\2 -->)`, "gs");
