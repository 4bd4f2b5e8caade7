// Counts the core's instructions per transition and compares them with benches/core/instructions.json: fails where a
// scenario takes more, or fewer, than the tolerance allows. `--write` writes them anew.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { instructions } from "./lib/core-benches.mjs";
import { exitWith, Failure, output, root } from "./lib/run.mjs";
import { nativeEnv } from "./toolchain.mjs";

const file = path.join(root, "benches", "core", "instructions.json");
const TOLERANCE = 0.02;
const WRITE = "node scripts/instructions.mjs --write";

/** What is wrong with a scenario, or nothing. */
function complaint(name, before, now) {
  if (now === undefined) return `${name} is counted no more: ${WRITE}`;
  if (before === undefined) return `${name} has no baseline: ${WRITE}`;
  const change = now / before - 1;
  if (Math.abs(change) <= TOLERANCE) return undefined;
  const told = `${name}: ${before} → ${now} instructions per transition, ${(100 * change).toFixed(1)} %`;
  return change > 0 ? `${told} more` : `${told}; better: write it down`;
}

function main() {
  const rustc = output("rustc", ["--version"], { env: nativeEnv() })?.split(" ")[1];
  const counted = instructions();
  if (process.argv.includes("--write")) {
    writeFileSync(file, `${JSON.stringify({ rustc, perTransition: counted }, null, 2)}\n`);
    return;
  }
  const baseline = JSON.parse(readFileSync(file, "utf8"));
  const names = new Set([...Object.keys(baseline.perTransition), ...Object.keys(counted)]);
  for (const [name, now] of Object.entries(counted)) {
    console.log(`${name}: ${now} instructions per transition, baseline ${baseline.perTransition[name] ?? "none"}`);
  }
  const compilers = baseline.rustc === rustc ? "" : `the baseline is of rustc ${baseline.rustc}, this is ${rustc}`;
  if (compilers) console.log(compilers);
  const complaints = [...names].map((name) => complaint(name, baseline.perTransition[name], counted[name]));
  const told = complaints.filter(Boolean);
  if (!told.length) return;
  throw new Failure(
    [...told, compilers].filter(Boolean).join("\n"),
    `Make it cheaper, or, if it is worth it or better, write it down: ${WRITE}`,
  );
}

try {
  main();
} catch (error) {
  exitWith(error);
}
