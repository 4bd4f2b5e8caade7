// Each block of code in the documents stands in a file, word for word, and each of those files is run by a test: what is
// read is what is checked. Most are here; what needs other libraries lives in tests/consumers/.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { byHand, elsewhere, run } from "../tests/support/examples/index.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name) => readFileSync(path.join(root, name), "utf8");
const list = (folder) => readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });

/** Names from the root of the files in a folder. */
const filesOf = (folder) =>
  list(folder)
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));

const examples = filesOf("examples").filter((name) => name !== "examples/check.mjs");
const consumers = ["libraries", "migrating"].map((name) => `tests/consumers/${name}`);
const files = [...examples, ...consumers.filter((name) => existsSync(path.join(root, name))).flatMap(filesOf)];
const documents = [
  ...["README.md", "pkg-template/README.md", "pkg-template/with-other-libraries.md"],
  ...filesOf("docs/guide").filter((name) => name.endsWith(".md")),
];

const faults = [];
const seen = new Set();
for (const name of documents) {
  const blocks = [...read(name).matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  for (const [, language, code] of blocks) {
    // A block of js may be a file .mjs, as those of the runners are.
    const same = files.filter(
      (file) => [`.${language}`, `.m${language}`].includes(path.extname(file)) && read(file) === code,
    );
    if (!language || same.length === 0) faults.push(`${name} has a block that is in no file:\n\n${code}`);
    for (const file of same) seen.add(file);
  }
  console.log(`${name}: ${blocks.length} blocks`);
}

for (const file of examples) {
  const name = file.slice("examples/".length);
  if (!seen.has(file)) faults.push(`${file} is in no document`);
  const test = elsewhere[name];
  // By its name, with or without what it ends in.
  const named = test && read(test).includes(path.posix.basename(name).replace(/\.tsx?$/, ""));
  if (!named && !(name in run) && !(name in byHand)) faults.push(`${file} is run by no test`);
}
for (const name of [...Object.keys(run), ...Object.keys(elsewhere), ...Object.keys(byHand)]) {
  if (!examples.includes(`examples/${name}`)) faults.push(`examples/${name} has a test, and is not there`);
}

for (const fault of faults) console.log(`\n${fault}`);
if (faults.length > 0) process.exitCode = 1;
