// Writes www/docs/: in api/ pages about what each entry of the package exports, from its types by typedoc, in crate/ those of
// the crate by rustdoc. A warning is an error: what has no comment, a link that leads nowhere. `--check` writes nothing, and
// leaves the crate to its own check.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { COMPILER, entries, pkg, require } from "./lib/entries.mjs";
import { exitWith, Failure, root, run } from "./lib/run.mjs";
import { nativeEnv } from "./toolchain.mjs";

const out = path.join(root, "www", "docs");
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
  if (!process.argv.includes("--check")) await app.generateDocs(project, path.join(out, "api"));
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Failure("see above");
}

function crate() {
  run("cargo", ["doc", "--no-deps", "--document-private-items"], {
    env: { ...nativeEnv(), RUSTDOCFLAGS: "-D warnings" },
  });
  rmSync(path.join(out, "crate"), { recursive: true, force: true });
  cpSync(path.join(root, "target", "doc"), path.join(out, "crate"), { recursive: true });
}

try {
  await main();
  if (!process.argv.includes("--check")) crate();
} catch (error) {
  exitWith(error);
}
