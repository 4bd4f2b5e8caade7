// Writes what the last `npm test` found in each engine of a browser into the READMEs, between `<!-- engines -->` and its end.
// `--check` writes nothing and fails where a README tells of other numbers of tests; versions, and engines that this
// machine has not, it does not compare.
import { existsSync, readFileSync } from "node:fs";
import { AREAS, ELSEWHERE, engines, RESULTS } from "./lib/engines.mjs";
import { fillReadmes, markers } from "./lib/readme.mjs";
import { exitWith, Failure } from "./lib/run.mjs";

const ROWS = {
  "tests/web.rs": "The core and the browser (`tests/web.rs`)",
  ...Object.fromEntries(Object.entries(AREAS).map(([name, what]) => [`tests/${name}.test.mjs`, what])),
};

function tables({ engines: found, elsewhere }) {
  const others = Object.entries(ELSEWHERE).map(
    ([name, what]) => `| ${what} | ${cell(elsewhere[`tests/${name}.test.mjs`])} |\n`,
  );
  return `${table(found)}| Elsewhere | |\n| --- | --: |\n${others.join("")}\n`;
}

function table(found) {
  const names = Object.keys(engines).filter((engine) => found[engine]);
  const heads = names.map((engine) =>
    `${found[engine].title} ${found[engine].version.match(/^\d+\.\d+/)?.[0] ?? ""}`.trim(),
  );
  const rows = Object.entries(ROWS).map(([file, what]) => [
    what,
    ...names.map((engine) => cell(found[engine].files[file])),
  ]);
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const aligned = line(["---", ...names.map(() => "--:")]);
  return `\n\n${line(["Tests that passed", ...heads])}${aligned}${rows.map(line).join("")}\n`;
}

/** How many passed; what is an exception is not among them. */
const cell = (result) => (result ? result.passed + (result.failed ? `, ${result.failed} failed` : "") : "");

/** The cells of a README's table by row and engine. */
function cells(text) {
  const [table = ""] = text.match(markers(["engines"])) ?? [];
  const [heads, , ...rows] = table
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((part) => part.trim()),
    );
  const titles = (heads ?? []).slice(1).map((head) => head.replace(/ [\d.]+$/, ""));
  const entries = rows.flatMap(([what, ...numbers]) => numbers.map((number, i) => [`${what}, ${titles[i]}`, number]));
  return Object.fromEntries(entries);
}

function alike(before, after) {
  const [old, now] = [before, after].map(cells);
  return Object.entries(now).every(([name, number]) => old[name] === number);
}

function main() {
  if (!existsSync(RESULTS)) throw new Failure("nothing is tested yet", "Run: npm test");
  const contents = { engines: tables(JSON.parse(readFileSync(RESULTS, "utf8"))) };
  fillReadmes(contents, { what: "the numbers of tests", script: "scripts/readme-engines.mjs", alike });
}

try {
  main();
} catch (error) {
  exitWith(error);
}
