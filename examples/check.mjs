// Each block of code in the READMEs stands in one of these files, word for word, so what is read is what is checked.
import { readdirSync, readFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url);
const examples = readdirSync(here("."))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(here(name), "utf8"));

for (const name of ["../README.md", "../pkg-template/README.md"]) {
  const blocks = [...readFileSync(here(name), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  const strays = blocks.filter((code) => !examples.includes(code));
  console.log(`${name.slice(3)}: ${blocks.length} blocks, ${strays.length} of them in no file`);
  for (const code of strays) console.log(`\n${code}`);
  if (blocks.length === 0 || strays.length > 0) process.exitCode = 1;
}
