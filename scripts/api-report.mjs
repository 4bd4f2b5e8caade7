// Writes docs/api/: for each entry of the package what it exports, with its types, as one text by api-extractor.
// `--check` only compares.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { COMPILER, entries, pkg, require } from "./lib/entries.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const folder = path.join(root, "docs", "api");
const temporary = path.join(root, "target", "api");
const SILENT = { default: { logLevel: "none" } };

/** Leaves the report of an entry in a folder. */
function report(types, reportFolder) {
  const file = path.join(pkg, types);
  const name = path.basename(types, ".d.ts");
  const { Extractor, ExtractorConfig } = require("@microsoft/api-extractor");
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: file,
      compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [file] }, skipLibCheck: true },
      apiReport: { enabled: true, reportFileName: `${name}.api.md`, reportFolder, reportTempFolder: temporary },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: "lf",
      messages: {
        // That a type comes from another entry, and what a comment lacks.
        extractorMessageReporting: SILENT,
        tsdocMessageReporting: SILENT,
        compilerMessageReporting: { default: { logLevel: "error" } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(pkg, "package.json"),
  });
  const hide = (message) => {
    if (message.logLevel !== "error") message.handled = true;
  };
  const { succeeded } = Extractor.invoke(config, { localBuild: true, messageCallback: hide });
  if (!succeeded) throw new Failure(`there is no report of ${name}`);
}

const read = (from, name) => (existsSync(path.join(from, name)) ? readFileSync(path.join(from, name), "utf8") : "");

function main() {
  const check = process.argv.includes("--check");
  const made = check ? path.join(temporary, "now") : folder;
  rmSync(temporary, { recursive: true, force: true });
  rmSync(made, { recursive: true, force: true });
  for (const each of [temporary, made]) mkdirSync(each, { recursive: true });
  for (const { types } of entries()) report(types, made);
  const names = new Set([...readdirSync(made), ...readdirSync(folder)]);
  const differ = [...names].filter((name) => read(made, name) !== read(folder, name));
  if (!differ.length) return;
  throw new Failure(
    `the types are not those of docs/api/: ${differ.join(", ")}`,
    "Run: node scripts/api-report.mjs, and see in the difference whether it breaks what uses the package",
  );
}

try {
  main();
} catch (error) {
  exitWith(error);
}
