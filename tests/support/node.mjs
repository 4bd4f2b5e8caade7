// Runs a function in a Node process of its own, with the installed package.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { install } from "./packed.mjs";
import { program } from "./toolkit.mjs";

/** How long a process may take to end after its result is there: no timer of ours may hold it. */
const LINGER = 20_000;
const PATIENCE = 20_000;

/**
 * @param {Function} act  called with the toolkit and `input` in the other process; refers to nothing else
 * @returns {Promise<any>} what it returned, through JSON
 */
export async function actInNode(act, where, input) {
  return runModule(`
    import * as steadfetch from "steadfetch";
    report(await ${program(act, where, input)});
  `);
}

/**
 * Runs the text of a module in the project, where `report(value)` hands a value back. The process has to end by
 * itself, with nothing on its error output.
 */
export async function runModule(source, { flags = [], patience = PATIENCE } = {}) {
  const prelude = `
    import { writeSync } from "node:fs";
    const report = (value) => writeSync(3, JSON.stringify(value ?? null));
  `;
  const child = spawn(process.execPath, [...flags, "--input-type=module", "--eval", prelude + source], {
    cwd: await install(),
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const output = ["", "", ""];
  [1, 2, 3].forEach((fd, i) => child.stdio[fd].setEncoding("utf8").on("data", (text) => (output[i] += text)));

  let lingered;
  const stop = (why) => {
    lingered = why;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(stop, patience, `had no result after ${patience} ms`);
  child.stdio[3].once("data", () => {
    clearTimeout(timer);
    timer = setTimeout(stop, LINGER, `still ran ${LINGER} ms after its result`);
  });
  const [code] = await once(child, "close");
  clearTimeout(timer);

  const [, stderr, result] = output;
  if (lingered) throw new Error(`the process ${lingered}\n${stderr}`);
  if (code !== 0 || stderr !== "") throw new Error(`the process ended with ${code}\n${stderr}`);
  if (result === "") throw new Error("the process ended without a result: its promise never settled");
  return JSON.parse(result);
}
