// Each block of code in the documents stands in a file, word for word, so what is read is what is checked: by the compiler
// in examples/, by tests/recipes.test.mjs in tests/consumers/libraries/.
import { readdirSync, readFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url);
const sources = (folder, end) =>
  readdirSync(here(folder))
    .filter((name) => name.endsWith(end))
    .map((name) => readFileSync(here(`${folder}${name}`), "utf8"));

const examples = ["ts", "tsx", "vue", "svelte"].map((end) => [end, sources("./", `.${end}`)]);
const recipes = sources("../tests/consumers/libraries/", ".js");

for (const [name, language, files] of [
  ["../README.md", ...examples[0]],
  ...examples.map((each) => ["../pkg-template/README.md", ...each]),
  ["../pkg-template/with-other-libraries.md", "js", recipes],
]) {
  const fences = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  const blocks = [...readFileSync(here(name), "utf8").matchAll(fences)].map(([, code]) => code);
  const strays = blocks.filter((code) => !files.includes(code));
  console.log(`${name.slice(3)}: ${blocks.length} blocks of ${language}, ${strays.length} of them in no file`);
  for (const code of strays) console.log(`\n${code}`);
  if (blocks.length === 0 || strays.length > 0) process.exitCode = 1;
}
