// Mutation testing of the core: prints the score, and fails where a change survives that docs/mutants.md does not explain.
// About an hour. `--report` only looks at the last run.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./lib/run.mjs";
import { nativeEnv } from "./toolchain.mjs";

const folder = path.join(root, "target", "mutants.out");

if (!process.argv.includes("--report")) {
  spawnSync("cargo", ["mutants", "-o", "target", "--timeout", "20", "--colors", "never"], {
    cwd: root,
    env: nativeEnv(),
    stdio: "inherit",
  });
}

/** "call.rs: replace > with >= in Call::next_tick", without the place, which moves. */
const names = (file) =>
  readFileSync(path.join(folder, file), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => line.replace(/^.*?(\w+\.rs):\d+:\d+: /, "$1: "));
const [caught, hung, missed, unviable] = ["caught", "timeout", "missed", "unviable"].map((kind) =>
  names(`${kind}.txt`),
);
const explained = new Set(
  [...readFileSync(path.join(root, "docs", "mutants.md"), "utf8").matchAll(/^- `(.+?)`/gm)].map(([, name]) => name),
);

const killed = caught.length + hung.length;
const viable = killed + missed.length;
const of = killed + missed.length + unviable.length;
console.log(`${of} changes, ${unviable.length} of which do not compile`);
console.log(`${killed} of ${viable} are noticed (${hung.length} never end): ${((100 * killed) / viable).toFixed(1)} %`);
const unexplained = missed.filter((name) => !explained.has(name));
console.log(`${missed.length} survive, ${missed.length - unexplained.length} of them for a reason`);
for (const name of unexplained) console.log(`unexplained: ${name}`);
for (const name of explained) if (!missed.includes(name)) console.log(`explained, but noticed: ${name}`);
if (viable === 0 || unexplained.length > 0) process.exitCode = 1;
