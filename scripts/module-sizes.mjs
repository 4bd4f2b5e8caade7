// Compares what each module takes of the wasm with what benches/results.json has, so that growth is seen where it is:
// none may grow by more than a twentieth. Where it is worth it: `npm run bench -- size`.
import { readFileSync } from "node:fs";
import path from "node:path";
import { breakdown } from "../benches/lib/breakdown.mjs";
import { build } from "./build.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const MOST = 1.05;
/** In bytes: less is a matter of what the compiler puts where. */
const SLIGHT = 150;

export async function main() {
  await build({ names: true });
  const { size } = JSON.parse(readFileSync(path.join(root, "benches", "results.json"), "utf8"));
  const before = size.result.functions.modules;
  const grown = [];
  for (const [name, bytes] of Object.entries(breakdown().modules)) {
    const most = Math.max((before[name] ?? 0) * MOST, (before[name] ?? 0) + SLIGHT);
    if (bytes > most) grown.push(`${name}: ${before[name] ?? 0} → ${bytes} bytes`);
  }
  if (grown.length) throw new Failure(`modules have grown:\n${grown.join("\n")}`, "npm run bench -- size");
  console.log(`no module has grown by more than ${Math.round(100 * (MOST - 1))} %`);
}

await main().catch(exitWith);
