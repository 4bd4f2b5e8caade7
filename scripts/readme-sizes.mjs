// Writes what `npm run build` measured into the READMEs, between `<!-- sizes -->` (the table) or `<!-- size -->` (what
// travels) and their ends. `--check` writes nothing and fails where a README is more than 2 % off.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fillReadmes } from "./lib/readme.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const TOLERANCE = 0.02;
const NUMBER = /\d+\.\d/g;
const ROWS = {
  wasm: "WebAssembly",
  "js without wasm": "JavaScript",
  "index.js": "`index.js`, both in one file",
  "fallback.js": "`fallback.js`, only where WebAssembly is refused",
};

const kB = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

function table(sizes) {
  const row = (name) => {
    const { raw, gzip, brotli } = sizes[name];
    return `| ${ROWS[name]} | ${[raw, gzip, brotli].map(kB).join(" | ")} |\n`;
  };
  return `\n\n| | raw | gzip | brotli |\n| --- | --: | --: | --: |\n${Object.keys(ROWS).map(row).join("")}\n`;
}

/** Whether both say the same but for small differences in numbers. */
function alike(before, after) {
  const [old, now] = [before, after].map((text) => text.match(NUMBER).map(Number));
  const words = (text) => text.replace(NUMBER, "");
  return words(before) === words(after) && old.every((size, i) => Math.abs(size - now[i]) <= now[i] * TOLERANCE);
}

function main() {
  const measured = path.join(root, "target", "sizes.json");
  if (!existsSync(measured)) throw new Failure("nothing is measured yet", "Run: npm run build");
  const sizes = JSON.parse(readFileSync(measured, "utf8"));
  const contents = { sizes: table(sizes), size: kB(sizes["index.js"].brotli) };
  fillReadmes(contents, { what: "the sizes", script: "scripts/readme-sizes.mjs", alike });
}

try {
  main();
} catch (error) {
  exitWith(error);
}
