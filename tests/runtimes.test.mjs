// The package where there is no page: Node, Bun and Deno say the same.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { nodeOf } from "./support/frameworks.mjs";
import { startServer } from "./support/server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = path.join(root, "tests", "support", "runtimes", "main.mjs");

/** Where the binary lies, without the script that would put it into its place at the installation. */
const packaged = (name) => path.join(root, "node_modules", name);
const RUNTIMES = {
  Node: [process.execPath, []],
  "Node 22": [nodeOf(22), []],
  "Node 24": [nodeOf(24), []],
  Bun: [packaged("@oven/bun-linux-x64/bin/bun"), []],
  Deno: [
    packaged("@deno/linux-x64-glibc/deno"),
    ["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env", "--allow-read"],
  ],
};

let server;
before(async () => {
  server = await startServer();
});
after(() => server?.close());

describe("without a page", () => {
  for (const [name, [binary, flags]] of Object.entries(RUNTIMES)) {
    const missing = existsSync(binary) ? false : `no ${name} for this platform`;
    test(`${name} runs it`, { skip: missing, timeout: 60_000 }, async () => {
      server.script("/flaky", [503, { body: "hello" }]);
      server.script("/down", [503]);
      const child = spawn(binary, [...flags, main, server.url], { cwd: root, timeout: 50_000, killSignal: "SIGKILL" });
      let out = "";
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (out += text));
      const [code] = await once(child, "close");
      assert.equal(code, 0, out);
      assert.deepEqual(JSON.parse(out.split("\n").findLast((line) => line.startsWith("{"))), {
        told: ["loading 1", "waiting 1", "loading 2", "success 2"],
        text: "hello",
        aborted: "enough",
        state: "cancelled",
        refused: true,
        status: "open",
        disposed: "InvalidStateError",
      });
    });
  }
});
