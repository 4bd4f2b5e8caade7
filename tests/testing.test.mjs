// steadfetch/testing under the test runners of its users, each in a workspace of its own with the packed package.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PATIENCE = 120_000;
const modules = new URL("../node_modules/", import.meta.url);
const cli = (path) => fileURLToPath(new URL(path, modules));

/** Runs Node in a workspace, without the marks of the run that this is part of. */
async function run(workspace, args) {
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: fileURLToPath(new URL(`consumers/${workspace}/`, import.meta.url)),
    env: { ...env, CI: "true" },
    timeout: PATIENCE,
    killSignal: "SIGKILL",
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  const [code] = await once(child, "close");
  return { code, ...output, all: output.stdout + output.stderr };
}

/** The examples, whose tests a reader is told to write. */
const EXAMPLES = ["guide/timers.test.ts", "report.test.tsx"];

/** What `{ numPassedTests, numTotalTests }` of Vitest and Jest says. */
function counted({ code, stdout, all }) {
  assert.equal(code, 0, all);
  const { numPassedTests, numTotalTests } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return [numPassedTests, numTotalTests];
}

/** The same of node:test. */
function countedByNode({ code, stdout, all }) {
  assert.equal(code, 0, all);
  return ["pass", "tests"].map((name) => Number(stdout.match(new RegExp(`^# ${name} (\\d+)$`, "m"))?.[1]));
}

test("under Vitest, with the virtual clock and with its fake timers", async () => {
  assert.deepEqual(counted(await run("vitest", [cli("vitest/vitest.mjs"), "run", "--reporter=json"])), [5, 5]);
});

test("under Vitest, the tests of the README and of the guide", async () => {
  const args = [cli("vitest/vitest.mjs"), "run", "--reporter=json", "--root=../../../examples"];
  const result = await run("vitest", args);
  assert.deepEqual(counted(result), [6, 6]);
  for (const name of EXAMPLES) assert.ok(result.stdout.includes(`/examples/${name}"`), name);
});

test("under Jest, with the virtual clock and with its fake timers", async () => {
  const flags = ["--experimental-vm-modules", "--no-warnings"];
  assert.deepEqual(counted(await run("jest", [...flags, cli("jest/bin/jest.js"), "--json", "--ci"])), [5, 5]);
});

test("under node:test, each part by itself", async () => {
  assert.deepEqual(countedByNode(await run("node-test", ["--test", "--test-reporter=tap"])), [34, 34]);
});

test("with Playwright, in the page and behind page.route()", async () => {
  assert.deepEqual(countedByNode(await run("playwright", ["--test", "--test-reporter=tap"])), [5, 5]);
});
