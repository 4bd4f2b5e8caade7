// Writes www/docs/api/, pages about what each entry of the package exports, from its types by typedoc. A warning is an
// error: what has no comment, a link that leads nowhere. `--check` writes nothing.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { COMPILER, entries, pkg, require } from "./lib/entries.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const out = path.join(root, "www", "docs", "api");
const tsconfig = path.join(root, "target", "docs", "tsconfig.json");

async function main() {
  const { Application } = await import(pathToFileURL(require.resolve("typedoc")));
  const found = entries().map(({ name, types }) => ({ name, file: path.join(pkg, types) }));
  const files = found.map(({ file }) => file);
  mkdirSync(path.dirname(tsconfig), { recursive: true });
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: COMPILER, files }));
  const app = await Application.bootstrap({
    entryPoints: files,
    tsconfig,
    name: "steadfetch",
    readme: "none",
    disableGit: true,
    disableSources: true,
    excludeExternals: true,
    sort: ["source-order"],
    // The type that it is taken out by.
    intentionallyNotDocumented: ["steadfetch.SteadEventMap.__type.state.__type.status"],
    validation: { notExported: true, invalidLink: true, notDocumented: true },
    treatWarningsAsErrors: true,
    treatValidationWarningsAsErrors: true,
    hideGenerator: true,
  });
  const project = await app.convert();
  if (!project) throw new Failure("typedoc could not read the types");
  // It names each by its file.
  for (const module of project.children) {
    module.name = found.find(({ file }) => path.basename(file) === `${module.name}.d.ts`).name;
  }
  app.validate(project);
  if (!process.argv.includes("--check")) await app.generateDocs(project, out);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Failure("see above");
}

await main().catch(exitWith);
