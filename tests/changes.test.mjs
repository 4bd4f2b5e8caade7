// What an adapter does when a component changes its client, address or options, and with what is none of ours. React
// stands for all: they share the code that decides it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./support/browser.mjs";
import { buildPages } from "./support/builds.mjs";
import { startServer, until } from "./support/server.mjs";

const source = fileURLToPath(new URL("support/changes", import.meta.url));

let server;
let page;
before(
  async () => {
    server = await startServer({ files: await buildPages("changes", [{ name: "react", source, main: "react.jsx" }]) });
  },
  { timeout: 120_000 },
);
after(() => server?.close());

const visit = (name, act) =>
  test(name, { timeout: 30_000 }, async () => {
    page = await (await launch()).newPage();
    try {
      await page.goto(`${server.url}/react/`);
      await page.waitForFunction(() => globalThis.createFetch);
      await act();
    } finally {
      await page.close();
    }
  });
const ask = (wanted) => page.evaluate((what) => globalThis.ask(what), wanted);
const asking = (status) => page.locator("#asking", { hasText: status }).waitFor();
const settled = () => page.waitForTimeout(300);

describe("a component that asks", () => {
  visit("sends one request though its options are written anew in each render", async () => {
    server.script("/a", [200]);
    await ask({ url: "/a" });
    await asking("success");
    await ask({ url: "/a" });
    await settled();
    assert.equal(server.hits("/a").length, 1);
    assert.ok((await page.evaluate(() => globalThis.renders)) < 10);
  });

  visit("asks again for another address, and cancels the request before", async () => {
    server.script("/b", ["stall"]);
    server.script("/c", [200]);
    await ask({ url: "/b" });
    await until(() => server.hits("/b").length === 1);
    await ask({ url: "/c" });
    await asking("success");
    await until(() => server.hits("/b")[0].aborted);
  });

  for (const [what, init] of Object.entries({
    method: { method: "DELETE" },
    headers: { headers: { "X-A": "2" } },
    "text body": { method: "PUT", body: "b" },
  })) {
    visit(`asks again for another ${what}`, async () => {
      const url = `/by-${Object.keys(init).join("-")}`;
      server.script(url, [200]);
      await ask({ url, init: what === "text body" ? { method: "PUT", body: "a" } : {} });
      await until(() => server.hits(url).length === 1);
      await asking("success");
      await ask({ url, init });
      await until(() => server.hits(url).length === 2);
    });
  }

  visit("asks again by another client", async () => {
    server.script("/d", [200]);
    await ask({ url: "/d" });
    await asking("success");
    await ask({ url: "/d", client: 1 });
    await until(() => server.hits("/d").length === 2);
  });

  visit("is idle when it wants nothing any more, and cancels", async () => {
    server.script("/e", ["stall"]);
    await ask({ url: "/e" });
    await until(() => server.hits("/e").length === 1);
    await ask({ url: null });
    await asking("idle");
    await until(() => server.hits("/e")[0].aborted);
  });

  visit("does not ask again for another priority, which is for the next request", async () => {
    server.script("/f", [200]);
    await ask({ url: "/f" });
    await asking("success");
    await ask({ url: "/f", init: { priority: "low" } });
    await settled();
    assert.equal(server.hits("/f").length, 1);
  });

  visit("fails for a header that cannot be sent, and goes on with one that can", async () => {
    server.script("/bad", [200]);
    await ask({ url: "/bad", init: { headers: { "X-Name": "✓" } } });
    await asking("failed");
    await ask({ url: "/bad", init: { headers: { "X-Name": "v" } } });
    await asking("success");
  });

  visit("a signal of its own cancels it", async () => {
    server.script("/g", ["stall"]);
    await page.evaluate(() => {
      globalThis.controller = new AbortController();
      globalThis.ask({ url: "/g", init: { signal: globalThis.controller.signal } });
    });
    await until(() => server.hits("/g").length === 1);
    await page.evaluate(() => globalThis.controller.abort());
    await asking("cancelled");
  });
});

describe("a component that is given what is none of ours", () => {
  const watching = (text) => page.locator("#watching", { hasText: text }).waitFor();

  visit("watches a call of another client", async () => {
    server.script("/h", [200]);
    await page.evaluate(() => globalThis.watch(globalThis.createFetch().start("/h")));
    await watching("success");
  });

  visit("watches a call of another version, of which it knows the store alone", async () => {
    await page.evaluate(() => {
      const listeners = new Set();
      let state = { status: "loading", attempt: 1 };
      globalThis.watch({
        getSnapshot: () => state,
        subscribe(listener) {
          listeners.add(listener);
          listener(state);
          return () => listeners.delete(listener);
        },
      });
      setTimeout(() => {
        state = { status: "from-the-future", attempt: 2 };
        for (const listener of listeners) listener(state);
      }, 100);
    });
    await watching("from-the-future");
  });

  visit("is idle without a call", async () => {
    await page.evaluate(() => globalThis.watch(null));
    await watching("idle");
  });

  visit("throws a TypeError for a promise in the place of a call, and of a client", async () => {
    const error = page.locator("#error", { hasText: "TypeError: steadfetch: no store" });
    await page.evaluate(() => globalThis.watch(Promise.resolve()));
    await error.waitFor();
    await page.reload();
    await page.waitForFunction(() => globalThis.createFetch);
    await page.evaluate(() => globalThis.circuits(fetch));
    await error.waitFor();
  });
});

describe("a listener", () => {
  visit("may take itself and others off while it is told", async () => {
    server.script("/i", [503, 200]);
    const told = await page.evaluate(async () => {
      const client = globalThis.createFetch({ retry: { delay: 50, jitter: "none" } });
      const told = [];
      const call = client.start("/i");
      const off = [];
      off[0] = call.subscribe(({ status }) => {
        told.push(`first ${status}`);
        if (status === "waiting") for (const stop of off) stop();
      });
      off[1] = call.subscribe(({ status }) => told.push(`second ${status}`));
      call.subscribe(({ status }) => told.push(`third ${status}`));
      await call;
      return told;
    });
    assert.deepEqual(told, [
      ...["first loading", "second loading", "third loading"],
      ...["first waiting", "third waiting", "third loading", "third success"],
    ]);
  });
});
