// The packed package, installed in an empty project, in Node processes of their own against a real server.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { before, describe, test } from "node:test";
import { subjects } from "./support/facts/index.mjs";
import { actInNode, runModule } from "./support/node.mjs";
import { install } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

before(install);

/** Runs `body` with a server of its own. */
async function withServer(body) {
  const server = await startServer({ cors: true });
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

for (const [subject, facts] of Object.entries(subjects)) {
  // Most of a fact is waiting: a few at a time.
  describe(subject, { concurrency: 4 }, () => {
    for (const { name, only, steps, act, input, check } of facts) {
      if (only === "browser") continue;
      test(name, () =>
        withServer(async (server) => {
          for (const [path, script] of Object.entries(steps)) server.script(path, script);
          const { url, origin2, closedUrl } = server;
          check?.(await actInNode(act, { url, origin2, closedUrl }, input), server);
        }),
      );
    }
  });
}

describe("the package in Node", { concurrency: 4 }, () => {
  test("is all that its installation brings", async () => {
    const modules = await readdir(path.join(await install(), "node_modules"));
    assert.deepEqual(
      modules.filter((name) => !name.startsWith(".")),
      ["steadfetch"],
    );
    const manifest = JSON.parse(
      await readFile(path.join(await install(), "node_modules/steadfetch/package.json"), "utf8"),
    );
    assert.deepEqual(manifest.dependencies ?? {}, {});
    assert.equal(manifest.scripts?.install ?? manifest.scripts?.postinstall, undefined);
  });

  test("works as its users write it, with no configuration and no init", () =>
    withServer(async (server) => {
      server.script("/x", [503, { body: "hello" }]);
      const text = await runModule(`
      import { createFetch } from "steadfetch";
      const fetch = createFetch({ retry: { delay: 20 } });
      report(await (await fetch("${server.url}/x")).text());
    `);
      assert.equal(text, "hello");
    }));

  test("can be required", () =>
    withServer(async (server) => {
      server.script("/x", 200);
      const status = await runModule(
        `
      import { createRequire } from "node:module";
      const { createFetch } = createRequire(process.cwd() + "/x.js")("steadfetch");
      report((await createFetch()("${server.url}/x")).status);
    `,
        { flags: ["--disable-warning=ExperimentalWarning"] },
      );
      assert.equal(status, 200);
    }));

  test("touches no global when it is imported", async () => {
    const touched = await runModule(`
      const touched = [];
      for (const name of ["fetch", "WebAssembly", "crypto", "performance", "navigator", "document", "window", "setTimeout", "Request", "Response", "AbortController"]) {
        const value = globalThis[name];
        Object.defineProperty(globalThis, name, { configurable: true, get: () => (touched.push(name), value) });
      }
      // What the platform loads late for those just looked at is no doing of the package.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const before = touched.length;
      await import("steadfetch");
      report(touched.slice(before));
    `);
    assert.deepEqual(touched, []);
  });

  for (const [what, script, lines] of [
    ["a success", 200, "await client(url);"],
    ["an exhausted call", 503, "await client(url);"],
    ["an opened circuit", 503, "for (let i = 0; i < 5; i++) await client(url, { retry: false });"],
    ["a Retry-After too long to wait for", { status: 503, retryAfter: 3600 }, "await client(url);"],
    [
      "a cancelled wait",
      { status: 503, retryAfter: 30 },
      "const call = client.start(url); call.subscribe((state) => state.status === 'waiting' && queueMicrotask(() => call.cancel())); await call.response.catch(() => {});",
    ],
    [
      "a subscriber that never left",
      [503, 200],
      "client.subscribe(() => {}); client.circuits.subscribe(() => {}); const call = client.start(url); call.subscribe(() => {}); await call;",
    ],
    ["an idle client", 200, "await client.ready();"],
  ]) {
    test(`lets the process end by itself after ${what}`, () =>
      withServer(async (server) => {
        server.script("/x", script);
        await runModule(`
        import { createFetch } from "steadfetch";
        const client = createFetch({ retry: { delay: 20 } });
        const url = "${server.url}/x";
        ${lines}
        report("done");
      `);
      }));
  }
});
