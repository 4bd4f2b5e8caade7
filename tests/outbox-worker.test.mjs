// A service worker that delivers what tabs left behind, in a real browser that is told that the network is back.

import assert from "node:assert/strict";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { except } from "./support/browser.mjs";
import { become, inTabs, keys, list, listed, post, texts, told } from "./support/outbox.mjs";
import { install } from "./support/packed.mjs";

const PATIENCE = { timeout: 120_000 };
const SYNC = { firefox: "it has no Background Sync", webkit: "it has no Background Sync" };
const TAG = "steadfetch-outbox default";
const world = inTabs({
  pages: async () => ({ "/worker.js": { headers: { "Content-Type": "text/javascript" }, body: await worker() } }),
});
const until = (condition, what) => world.server.until(condition, what);
const hits = (path = "/x") => world.server.hits(path);

/** One classic script, as bundlers make it. */
async function worker() {
  const steadfetch = path.join(await install(), "node_modules", "steadfetch");
  const result = await build({
    entryPoints: [fileURLToPath(new URL("support/contexts/outbox-worker.mjs", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    alias: {
      "steadfetch/outbox/sw": path.join(steadfetch, "dist/outbox-sw.js"),
      steadfetch: path.join(steadfetch, "dist/index.js"),
    },
    logLevel: "error",
  });
  return result.outputFiles[0].text;
}

/** A page with a worker, without an outbox. */
async function withWorker() {
  const page = await world.page();
  await page.evaluate(async () => {
    const controlled = new Promise((resolve) => {
      navigator.serviceWorker.oncontrollerchange = resolve;
    });
    await navigator.serviceWorker.register("/worker.js");
    await controlled;
  });
  return page;
}

/** A worker, and what a tab has left behind: all that it could not send. */
async function leftBehind(names, step = "refuse", options = {}) {
  const page = await withWorker();
  world.server.script("/x", step);
  const tab = await world.open(options);
  for (const name of names) await post(tab, name);
  return { page, tab };
}

/** Wakes the worker as a browser does, from a page that has no outbox. What became of it. */
const sync = (page, tag = TAG, lastChance = false) =>
  page.evaluate(
    ([tag, lastChance]) =>
      new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        navigator.serviceWorker.controller.postMessage({ tag, lastChance }, [port2]);
      }),
    [tag, lastChance],
  );

describe("a service worker", () => {
  test("delivers what closed tabs left behind, in order, with the same keys", PATIENCE, async () => {
    const { page, tab } = await leftBehind(["a", "b", "c"]);
    await until(() => hits().length >= 1);
    await tab.close();
    const before = hits().length;
    world.server.script("/x", [503, 200]);
    assert.equal(await sync(page), "done");
    const sent = hits().slice(before);
    assert.deepEqual(texts(sent), ["a", "a", "b", "c"]);
    assert.equal(new Set(keys(hits())).size, 3);
    const after = await world.open();
    assert.deepEqual(await list(after), []);
    assert.deepEqual(world.faults, []);
  });

  test("tells the browser to try again where some are left, and not at the last chance", PATIENCE, async () => {
    const { page, tab } = await leftBehind(["a"], { status: 503, retryAfter: 600 });
    await listed(tab, "a waiting");
    await tab.close();
    assert.equal(await sync(page), "steadfetch: 1 entries are left");
    assert.equal(await sync(page, TAG, true), "done");
    const after = await world.open();
    await listed(after, "a waiting");
  });

  test("tells the browser to try again where a tab has not delivered them yet", PATIENCE, async () => {
    const { page, tab } = await leftBehind(["a"], { status: 503, retryAfter: 600 });
    await listed(tab, "a waiting");
    assert.equal(await sync(page), "steadfetch: 1 entries are left");
    world.server.script("/x", 200);
    assert.equal(await sync(page), "done");
    await become(tab, () => told.includes("delivered a"));
    assert.deepEqual(await told(tab), ["delivered a"]);
  });

  test("tells the browser to try again where the store cannot be opened", PATIENCE, async () => {
    const page = await withWorker();
    await page.evaluate(
      (name) =>
        new Promise((resolve) => {
          const request = indexedDB.open(name, 1);
          request.onupgradeneeded = () => request.result.createObjectStore("theirs");
          request.onsuccess = () => {
            request.result.close();
            resolve();
          };
        }),
      TAG,
    );
    assert.equal(await sync(page), "steadfetch: the store cannot be opened");
  });

  test("leaves alone what is paused, what is refused, and outboxes of another name", PATIENCE, async () => {
    const { page, tab } = await leftBehind(["a", "b"], 422, { name: "other" });
    await listed(tab, "a rejected", "b rejected");
    await tab.evaluate(() => outbox.pause());
    await post(tab, "c");
    await tab.close();
    const before = hits().length;
    assert.equal(await sync(page), "done");
    assert.equal(await sync(page, "steadfetch-outbox other"), "done");
    assert.equal(await sync(page, "steadfetch-outbox unknown"), "not asked");
    assert.equal(hits().length, before);
    const after = await world.open({ name: "other" });
    await listed(after, "c queued", "a rejected", "b rejected");
  });

  test("tells a tab what it delivers while that is open", PATIENCE, async () => {
    const { page, tab } = await leftBehind(["a"], { status: 503, retryAfter: 600 });
    await listed(tab, "a waiting");
    // The worker is next when the tab that sends goes.
    const second = await world.open();
    await listed(second, "a waiting");
    world.server.script("/x", 200);
    const done = sync(page);
    await become(second, () => told.includes("delivered a"));
    assert.equal(await done, "done");
    assert.deepEqual(await list(tab), []);
  });
});

describe("Background Sync", () => {
  /** The worker as DevTools have it. */
  async function devtools(page) {
    const session = await world.context.newCDPSession(page);
    const found = new Promise((resolve) => {
      session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        if (registrations.length) resolve(registrations[0].registrationId);
      });
    });
    await session.send("ServiceWorker.enable");
    const registrationId = await found;
    return (tag, lastChance = false) =>
      session.send("ServiceWorker.dispatchSyncEvent", { origin: world.server.url, registrationId, tag, lastChance });
  }

  test("delivers when all tabs of the origin are closed", { ...PATIENCE, ...except(SYNC) }, async () => {
    const { page, tab } = await leftBehind(["a", "b"]);
    await until(() => hits().length >= 1);
    // DevTools need a page; it is one of another origin by then.
    const dispatch = await devtools(page);
    await tab.close();
    await page.goto(`${world.server.origin2}/`);
    world.server.script("/x", 200);
    await dispatch(TAG);
    await until(() => texts(hits()).includes("b"), "the last of them");
    const after = await world.open();
    await listed(after);
    assert.equal(new Set(keys(hits())).size, 2);
  });

  test("is asked for when something is sent, and once more when the page is hidden", {
    ...PATIENCE,
    ...except(SYNC),
  }, async () => {
    const page = await withWorker();
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const tab = await world.page(world.server.url, () => {
      globalThis.asked = [];
      SyncManager.prototype.register = async (tag) => void globalThis.asked.push(tag);
    });
    await world.open({}, { page: tab });
    await post(tab, "a");
    await post(tab, "b");
    await become(tab, () => asked.length === 1);
    const hide = () => {
      Object.defineProperty(document, "visibilityState", { configurable: true, value: "hidden" });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    await tab.evaluate(hide);
    assert.deepEqual(await tab.evaluate(() => asked), [TAG, TAG]);
    world.server.script("/x", 200);
    await tab.evaluate(() => outbox.flush());
    await tab.evaluate(hide);
    assert.equal(await tab.evaluate(() => asked.length), 2);
    await page.close();
  });

  test("is asked for once a worker is there, and by a page that finds entries", {
    ...PATIENCE,
    ...except(SYNC),
  }, async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const open = async () => {
      const tab = await world.page(world.server.url, () => {
        globalThis.asked = [];
        SyncManager.prototype.register = async (tag) => void globalThis.asked.push(tag);
      });
      return world.open({}, { page: tab });
    };
    const tab = await open();
    await post(tab, "a");
    await listed(tab, "a waiting");
    await tab.evaluate(() => void navigator.serviceWorker.register("/worker.js"));
    await become(tab, () => asked.length === 1);
    await become(await open(), () => asked.length === 1);
  });
});
