// Installs the packed package beside the other packages, so that what needs it finds it as its users do.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";

/** What `npm pack` makes of `folder` becomes node_modules/steadfetch. Not by `npm install`, which would note it. */
export function place(folder) {
  const packed = path.join(root, "target", "packed");
  const installed = path.join(root, "node_modules", "steadfetch");
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed, { recursive: true });
  const options = { cwd: packed, encoding: "utf8", shell: process.platform === "win32" };
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", folder, "--json"], options));
  execFileSync("tar", ["xzf", filename], options);
  rmSync(installed, { recursive: true, force: true });
  cpSync(path.join(packed, "package"), installed, { recursive: true });
}
