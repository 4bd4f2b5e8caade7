// Compares what each entry of the package weighs, minified and with brotli, with its limit in `.size-limit.json`, by
// size-limit. `--raise` makes each limit today's size and a little more, so it lowers them, too.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import filePlugin from "@size-limit/file";
import sizeLimit from "size-limit";
import { entries, pkg } from "./lib/entries.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const file = path.join(root, ".size-limit.json");
/** For a small fix, and a compressor of another version. */
const ROOM = 1.015;
/** No entries, but what an entry may load. */
const FALLBACKS = [
  { name: "steadfetch, without WebAssembly", code: "dist/fallback.js" },
  { name: "steadfetch/outbox, without WebAssembly", code: "dist/outbox-fallback.js" },
];

/** In the words of size-limit's own configuration. */
async function weigh({ name, code }) {
  const [{ size }] = await sizeLimit([filePlugin], [path.join(pkg, code)]);
  return { name, path: path.posix.join("pkg", code), size };
}

/** What is wrong with an entry, or nothing. */
function complaint({ name, size }, limits) {
  const limit = Number.parseInt(limits.find((limit) => limit.name === name)?.limit, 10);
  if (!limit) return `${name} has no limit`;
  return size > limit ? `${name} is ${size} B, and ${limit} B are allowed` : undefined;
}

async function main() {
  const weighed = await Promise.all([...entries(), ...FALLBACKS].map(weigh));
  if (process.argv.includes("--raise")) {
    const limits = weighed.map(({ size, ...entry }) => ({ ...entry, limit: `${Math.ceil(size * ROOM)} B` }));
    writeFileSync(file, `${JSON.stringify(limits, null, 2)}\n`);
    return;
  }
  const limits = JSON.parse(readFileSync(file, "utf8"));
  const complaints = weighed.map((entry) => complaint(entry, limits)).filter(Boolean);
  if (!complaints.length) return;
  throw new Failure(
    complaints.join("\n"),
    "Make it smaller, or, if it is worth it, raise the limit: node scripts/size-limits.mjs --raise",
  );
}

await main().catch(exitWith);
