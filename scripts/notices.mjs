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

/** What the outbox has of npm: the folders of these packages. */
const INLINED = ["idb"].map((name) => path.join(root, "node_modules", name));

const texts = new Map();
for (const folder of INLINED) {
  const { name, version, license, repository } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  if (!isAllowed(license)) throw new Failure(`${name} ${version} is under ${license}: see scripts/lib/licences.mjs`);
  const address = repository.url.replace(/^git:|^git\+/, "").replace(/^\/\//, "https://");
  texts.set(licence(folder), [`- ${name} ${version} (${license}), ${address}, in \`dist/outbox.js\` alone`]);
}
for (const { name, version, license, manifest_path: manifest, repository } of packages()) {
  if (!inside.has(`${name} v${version}`)) continue;
  if (!isAllowed(license)) throw new Failure(`${name} ${version} is under ${license}: see scripts/lib/licences.mjs`);
  const text = licence(path.dirname(manifest));
  texts.set(text, [...(texts.get(text) ?? []), `- ${name} ${version} (${license}), ${repository}`]);
}

const parts = [...texts].map(([text, crates]) => `${crates.join("\n")}\n\n\`\`\`text\n${text}\n\`\`\`\n`);
const whole = `# Notices of third parties

Compiled into \`dist/index.js\`, \`dist/outbox.js\`, \`dist/core.wasm\`, \`dist/fallback.js\` and \`dist/outbox-fallback.js\`, besides
the standard library of Rust (MIT or Apache-2.0), are these crates and packages, under the licences that follow them. In the two
fallbacks there are also a few functions that wasm2js writes, a part of Binaryen (https://github.com/WebAssembly/binaryen), under Apache-2.0, whose text is LICENSE-APACHE.

${parts.join("\n")}`;

if (!process.argv.includes("--check")) writeFileSync(file, whole);
else if (readFileSync(file, "utf8") !== whole) {
  console.error("pkg-template/THIRD-PARTY.md is not up to date: node scripts/notices.mjs");
  process.exitCode = 1;
}
