// Which licences may be in what ships and in what builds it: those that ask for no more than their notice.

const ALLOWED = ["ISC", "MIT", "Apache-2.0", "Unicode-3.0"];

/** Whether an SPDX expression lets one choose allowed licences only, such as "(MIT OR Apache-2.0) AND Unicode-3.0". */
export function isAllowed(expression) {
  // Cargo's manifests once had "MIT/Apache-2.0" for a choice.
  const tokens = (expression ?? "").replaceAll("/", " OR ").match(/[()]|[^\s()]+/g) ?? [];
  const next = (token) => tokens[0] === token && tokens.shift() !== undefined;
  const term = () => {
    if (next("(")) {
      const inside = choice();
      return next(")") && inside;
    }
    const ok = ALLOWED.includes(tokens.shift());
    // An exception allows more than the licence does.
    if (next("WITH")) tokens.shift();
    return ok;
  };
  const all = () => {
    let ok = term();
    while (next("AND")) ok = term() && ok;
    return ok;
  };
  const choice = () => {
    let ok = all();
    while (next("OR")) ok = all() || ok;
    return ok;
  };
  return choice() && !tokens.length;
}
