// Node that is new enough for all peers, the same for each of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { output } from "../../scripts/lib/run.mjs";

const OLDEST = 22;
const brought = fileURLToPath(new URL("../node_modules/node-26/bin/node", import.meta.url));

/** The one that the benches bring, else the running one if that will do; null where there is none. */
export function newerNode() {
  if (existsSync(brought)) return brought;
  return Number.parseInt(process.versions.node, 10) >= OLDEST ? process.execPath : null;
}

export const versionOf = (node) => output(node, ["--version"])?.slice(1) ?? null;

/**
 * Runs a module in it: `input` is its last argument as JSON, and its last line is the result as JSON.
 *
 * @param {string} file
 * @param {{ input?: unknown, flags?: string[] }} [options]
 */
export async function inNode(file, { input = null, flags = [] } = {}) {
  const child = spawn(newerNode(), [...flags, file, JSON.stringify(input)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return JSON.parse(text.trimEnd().split("\n").at(-1));
}
