// Writes pkg-template/THIRD-PARTY.md: whose code is compiled into the package, and their licences. `--check` only compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { linked, packages } from "./lib/crates.mjs";
import { isAllowed } from "./lib/licences.mjs";
import { Failure, root } from "./lib/run.mjs";

const file = path.join(root, "pkg-template", "THIRD-PARTY.md");

const inside = linked();

/** Where there is a choice, MIT. */
function licence(folder) {
  const names = readdirSync(folder).filter((name) => /^licen[cs]e/i.test(name));
  const name = names.find((name) => /mit/i.test(name)) ?? names.find((name) => !/apache/i.test(name)) ?? names[0];
  return readFileSync(path.join(folder, name), "utf8").trim().replace(/\r/g, "");
}

const texts = new Map();
for (const { name, version, license, manifest_path: manifest, repository } of packages()) {
  if (!inside.has(`${name} v${version}`)) continue;
  if (!isAllowed(license)) throw new Failure(`${name} ${version} is under ${license}: see scripts/lib/licences.mjs`);
  const text = licence(path.dirname(manifest));
  texts.set(text, [...(texts.get(text) ?? []), `- ${name} ${version} (${license}), ${repository}`]);
}

const parts = [...texts].map(([text, crates]) => `${crates.join("\n")}\n\n\`\`\`text\n${text}\n\`\`\`\n`);
const whole = `# Notices of third parties

Compiled into \`dist/index.js\`, \`dist/core.wasm\` and \`dist/fallback.js\`, besides the standard library of Rust (MIT or
Apache-2.0), are these crates, under the licences that follow them. In \`dist/fallback.js\` there are also a few functions that
wasm2js writes, a part of Binaryen (https://github.com/WebAssembly/binaryen), under Apache-2.0, whose text is LICENSE-APACHE.

${parts.join("\n")}`;

if (!process.argv.includes("--check")) writeFileSync(file, whole);
else if (readFileSync(file, "utf8") !== whole) {
  console.error("pkg-template/THIRD-PARTY.md is not up to date: node scripts/notices.mjs");
  process.exitCode = 1;
}
