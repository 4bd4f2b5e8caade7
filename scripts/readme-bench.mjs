// Writes what benches/results.json says into the README, between `<!-- bench -->` and its end. `--check` writes nothing and
// fails where the README says something else, or where the size in that file is not that of the last build any more.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { table } from "../benches/lib/figures.mjs";
import { read } from "./lib/bench/results.mjs";
import { fillReadmes } from "./lib/readme.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const OURS = "steadfetch";
const TOLERANCE = 0.02;
const SIZES = path.join(root, "target", "sizes.json");
const NAMES = { [OURS]: `**${OURS}**`, loop: "hand-written loop" };

async function contents(results) {
  const columns = {};
  for (const [name, { result }] of Object.entries(results)) {
    const part = await import(pathToFileURL(path.join(root, "benches", `${name}.mjs`)));
    Object.assign(columns, part.columns?.(result));
  }
  const names = [...new Set(Object.values(columns).flatMap(Object.keys))];
  const rows = names.map((name) => [NAMES[name] ?? name, ...Object.values(columns).map((cells) => cells[name] ?? "")]);
  return { bench: `\n\n${table(["", ...Object.keys(columns)], rows)}\n` };
}

function compareSize({ size }) {
  if (!size || !existsSync(SIZES)) return;
  const name = "index.js";
  const [measured, built] = [size.result.ours, JSON.parse(readFileSync(SIZES, "utf8"))].map((of) => of[name].brotli);
  if (Math.abs(measured - built) <= built * TOLERANCE) return;
  throw new Failure(
    `benches/results.json has ${measured} bytes for ${name}, the last build ${built}`,
    "Run: npm run bench -- size, then node scripts/readme-bench.mjs",
  );
}

async function main() {
  const results = read();
  if (process.argv.includes("--check")) compareSize(results);
  const readmes = ["README.md"];
  fillReadmes(await contents(results), { what: "the results", script: "scripts/readme-bench.mjs", readmes });
}

await main().catch(exitWith);
