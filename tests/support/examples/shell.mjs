// Where the commands of an example are run, word for word: an empty folder, with the packed package in the one registry
// that npm knows.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startRegistry } from "../registry.mjs";
import { examples, open, scripted, source } from "./lab.mjs";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
let folders = 0;

export async function openShell({ files = {} }) {
  const registry = await startRegistry();
  // Under the project's own folder, where npx finds the tools that the project has.
  const folder = path.join(root, "target", "shell", String(folders++));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  for (const [name, example] of Object.entries(files)) writeFileSync(path.join(folder, name), source(example));

  const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = registry.env;
  const run = (command, ...args) => execute(command, args, { cwd: folder, env, timeout: 60_000 });
  return {
    run,
    shell: (name) => run("sh", "-e", path.join(examples, name)),
    sizeOf: (name) => statSync(path.join(folder, name)).size,
    /** A page of Chromium, with a script that the commands have made at "/bundled". */
    open,
    serve: (name) => ({
      "/bundled": scripted(`/${name}`),
      [`/${name}`]: { headers: { "Content-Type": "text/javascript" }, body: readFileSync(path.join(folder, name)) },
    }),
    close: registry.close,
  };
}
