// `npm run bench`: measures the package and its peers in one run. Each file of benches/ that is a part says what it
// measured; benches/results.json keeps it, with where and of what it was measured, and benches/results.md and the plots
// are written from that file alone. Parts can be named, with options for them: `npm run bench -- leak --calls=20000`.
import { readdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { keep, write } from "./lib/bench/results.mjs";
import { surroundings } from "./lib/bench/surroundings.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";
import { setupBenches } from "./setup.mjs";

const folder = path.join(root, "benches");
/** What the parts share. */
const SHARED = ["peers"];

const parts = readdirSync(folder)
  .filter((file) => file.endsWith(".mjs"))
  .map((file) => path.basename(file, ".mjs"))
  .filter((name) => !SHARED.includes(name));

function asked() {
  const { positionals, tokens } = parseArgs({ strict: false, allowPositionals: true, tokens: true });
  const unknown = positionals.filter((name) => !parts.includes(name));
  if (unknown.length) throw new Failure(`no part is called ${unknown.join(" or ")}`, `There are ${parts.join(", ")}.`);
  const given = tokens.filter(({ kind }) => kind === "option");
  const options = Object.fromEntries(given.map(({ name, value }) => [name, value ?? true]));
  return { names: positionals.length ? positionals : parts, options };
}

async function main() {
  const { names, options } = asked();
  setupBenches();
  await build({ names: names.includes("size") });
  for (const name of names) {
    const { title, run } = await import(path.join(folder, `${name}.mjs`));
    console.log(`\n=== ${title}`);
    const began = new Date();
    const result = await run(options);
    const seconds = Math.round((Date.now() - began) / 1_000);
    keep(name, { ...surroundings(), date: began.toISOString(), seconds, options, result });
    console.log(`--- ${seconds} s`);
  }
  await write();
}

await main().catch(exitWith);
