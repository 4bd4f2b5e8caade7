// The tabs of an origin, real ones, with one circuit together.

import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { INSECURE_HOST, launch } from "./support/browser.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const PATIENCE = { timeout: 120_000 };
const SHARED = {
  retry: 0,
  budget: false,
  breaker: { share: "tabs", consecutiveFailures: 3, minimumCalls: 1_000, halfOpenAfter: 1_500 },
};

/** Open for longer than a test takes, however slow the machine. */
const LONG = { ...SHARED, breaker: { ...SHARED.breaker, halfOpenAfter: 300_000, maxOpen: 300_000 } };

let files;
let browser;
let context;
let server;
let faults;

before(async () => {
  browser = await launch();
  files = await packageFiles({});
});

beforeEach(async () => {
  context = await browser.newContext();
  server = await startServer({ cors: true, files });
  faults = [];
});

afterEach(async () => {
  await context.close();
  await server.close();
});

/** Tabs that each have a client of these options; `url` is where they are. */
async function open(count, options = SHARED, url = server.url) {
  const tabs = [];
  for (let i = 0; i < count; i++) {
    const tab = await context.newPage();
    tab.on("pageerror", (error) => faults.push(error));
    tab.on("console", (message) => message.type() === "warning" && faults.push(message.text()));
    await tab.goto(url);
    await tab.evaluate(async (options) => {
      const { createFetch } = await import("steadfetch");
      globalThis.client = createFetch(options);
      globalThis.told = [];
      client.addEventListener("circuit", ({ detail }) => told.push(detail.status));
      globalThis.call = (path, init) =>
        client(path, init).then(
          ({ status }) => status,
          ({ name }) => name,
        );
    }, options);
    tabs.push(tab);
  }
  return tabs;
}

const all = (tabs, act, input) => Promise.all(tabs.map((tab) => tab.evaluate(act, input)));
const circuit = () => client.circuits.getSnapshot()[0];
const call = (tab, path, init) => tab.evaluate(([path, init]) => globalThis.call(path, init), [path, init]);

async function trip(tab) {
  for (let i = 0; i < 3; i++) assert.equal(await call(tab, "/bad"), 503);
}

/** Waits until the circuit has been so in every tab. */
async function become(tabs, status) {
  const was = (status) => told.includes(status);
  await Promise.all(tabs.map((tab) => tab.waitForFunction(was, status, { polling: 20 })));
}

describe("tabs with one circuit together", () => {
  test("what opens in one is open in all, until the same moment, and each is told once", PATIENCE, async () => {
    server.script("/bad", 503);
    const tabs = await open(3, LONG);
    await trip(tabs[0]);
    await become(tabs, "open");
    const states = await all(tabs, circuit);
    assert.deepEqual(new Set(states.map(({ key }) => key)), new Set([server.url]));
    const ends = states.map(({ openUntil }) => openUntil);
    assert.ok(Math.max(...ends) - Math.min(...ends) <= 2, `${ends}`);
    assert.deepEqual(await all(tabs, () => told), [["open"], ["open"], ["open"]]);
    assert.equal(await call(tabs[2], "/bad"), "CircuitOpenError");
    assert.equal(server.hits("/bad").length, 3);
    assert.deepEqual(faults, []);
  });

  test("ten tabs with traffic send one probe, and its success closes the circuit in all", PATIENCE, async () => {
    server.script("/bad", 503);
    server.script("/x", { status: 200, delay: 700 });
    const tabs = await open(10);
    await trip(tabs[0]);
    await become(tabs, "open");
    // Every tab asks again and again, from before the probe is due until it is back.
    const traffic = all(tabs, async () => {
      const seen = [];
      for (const end = performance.now() + 2_800; performance.now() < end; ) {
        seen.push(await Promise.race([call("/x"), new Promise((resolve) => setTimeout(resolve, 60, "pending"))]));
        await new Promise((resolve) => setTimeout(resolve, 40));
        if (client.circuits.getSnapshot()[0].status === "closed") break;
      }
      return seen;
    });
    await become(tabs, "closed");
    const seen = (await traffic).flat();
    const first = server.hits("/x")[0];
    const during = server.hits("/x").filter(({ at }) => at < first.at + 700);
    assert.equal(during.length, 1, `${during.length} requests before the probe was back`);
    assert.ok(seen.filter((outcome) => outcome === "CircuitOpenError").length >= 50, `${seen.length} calls`);
    assert.deepEqual(faults, []);
  });

  test("a tab that dies with its probe blocks nobody", PATIENCE, async () => {
    server.script("/bad", 503);
    server.script("/stalls", "stall");
    server.script("/x", 200);
    const [dying, other] = await open(2);
    await trip(dying);
    await become([dying, other], "half-open");
    dying.evaluate(() => void globalThis.call("/stalls")).catch(() => {});
    while (!server.hits("/stalls").length) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(await call(other, "/x"), "CircuitOpenError");
    const patient = other.evaluate(() => client("/x", { onCircuitOpen: "wait" }).then(({ status }) => status));
    await dying.close();
    assert.equal(await patient, 200);
    await become([other], "closed");
    assert.equal(server.hits("/x").length, 1);
  });

  test("a tab that is opened in the middle of an outage knows of it", PATIENCE, async () => {
    server.script("/bad", 503);
    const [first] = await open(1, LONG);
    await trip(first);
    const [late] = await open(1, LONG);
    await become([late], "open");
    assert.equal(await call(late, "/bad"), "CircuitOpenError");
  });

  test("a Retry-After that one tab was given holds the others back", PATIENCE, async () => {
    server.script("/busy", { status: 429, retryAfter: 1 });
    server.script("/x", 200);
    const [first, second] = await open(2);
    assert.equal(await call(first, "/busy"), 429);
    await second.waitForTimeout(100);
    const state = await second.evaluate(() => {
      globalThis.held = client.start("/x");
      return held.state.status;
    });
    assert.equal(state, "waiting");
    assert.equal(await second.evaluate(async () => (await held).status), 200);
    assert.ok(server.hits("/x")[0].at - server.hits("/busy")[0].answeredAt >= 999);
  });

  test("a disposed client is out of it, and its tab can leave for the cache and come back", PATIENCE, async () => {
    server.script("/bad", 503);
    const [first, gone, back] = await open(3, LONG);
    await gone.evaluate(() => client.dispose());
    await back.evaluate(() => {
      dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
    });
    await trip(first);
    await become([first], "open");
    assert.deepEqual(await gone.evaluate(() => told), []);
    assert.equal(await back.evaluate(() => client.circuits.getSnapshot().length), 0);
    await back.evaluate(() => {
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
    });
    await become([back], "open");
  });

  test("without locks a lease keeps the other tabs from sending a probe", PATIENCE, async () => {
    server.script("/bad", 503);
    server.script("/x", { status: 200, delay: 600 });
    const url = server.url.replace("127.0.0.1", INSECURE_HOST);
    const tabs = await open(3, SHARED, url);
    assert.deepEqual(await all(tabs, () => typeof navigator.locks), ["undefined", "undefined", "undefined"]);
    await trip(tabs[0]);
    await become(tabs, "half-open");
    const probe = call(tabs[1], "/x");
    while (!server.hits("/x").length) await new Promise((resolve) => setTimeout(resolve, 10));
    await tabs[0].waitForTimeout(100);
    assert.equal(await call(tabs[0], "/x"), "CircuitOpenError");
    assert.equal(await call(tabs[2], "/x"), "CircuitOpenError");
    assert.equal(await probe, 200);
    await become(tabs, "closed");
    assert.equal(server.hits("/x").length, 1);
  });

  test("a tab that is opened while a probe is out waits for it", PATIENCE, async () => {
    server.script("/bad", 503);
    server.script("/x", { status: 200, delay: 8_000 });
    const tabs = await open(2);
    await trip(tabs[0]);
    await become(tabs, "half-open");
    const probe = call(tabs[0], "/x");
    while (!server.hits("/x").length) await new Promise((resolve) => setTimeout(resolve, 10));
    const [late] = await open(1);
    await become([late], "half-open");
    assert.equal(await call(late, "/x"), "CircuitOpenError");
    assert.equal(server.hits("/x").length, 1);
    assert.equal(await probe, 200);
    await become([late], "closed");
    assert.deepEqual(await late.evaluate(() => told), ["half-open", "closed"]);
    assert.deepEqual(faults, []);
  });

  test("tabs that come in a flood are answered once a second", PATIENCE, async () => {
    server.script("/bad", 503);
    const tabs = await open(2, LONG);
    await trip(tabs[0]);
    await become(tabs, "open");
    const heard = await tabs[1].evaluate(async () => {
      const channel = new BroadcastChannel("steadfetch");
      let heard = 0;
      channel.onmessage = () => heard++;
      for (let i = 0; i < 500; i++) channel.postMessage([1, 0, i, "", 0, 0, 0, 0]);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return heard;
    });
    assert.ok(heard >= 1 && heard <= 20, `${heard} answers`);
    assert.deepEqual(faults, []);
  });

  test("what is said on the channel by anyone is looked at before it is believed", PATIENCE, async () => {
    server.script("/x", 200);
    const [tab, liar] = await open(2);
    await liar.evaluate((key) => {
      const channel = new BroadcastChannel("steadfetch");
      const bad = [
        null,
        "x",
        7,
        {},
        [],
        [1],
        [2, 1, 5, key, 9, Date.now() + 60_000, 0, 1],
        [1, 9, 5, key, 9, Date.now() + 60_000, 0, 1],
        [1, 1, -5, key, 9, Date.now() + 60_000, 0, 1],
        [1, 1, 5, 7, 9, Date.now() + 60_000, 0, 1],
        [1, 1, 5, key, Number.NaN, Date.now() + 60_000, 0, 1],
        [1, 1, 5, key, 9, "60000", 0, 1],
        [1, 1, 5, "k".repeat(5_000), 9, Date.now() + 60_000, 0, 1],
        [1, 1, 5, key, 9, Date.now() + 60_000, 0, 1, 0],
      ];
      for (const message of bad) channel.postMessage(message);
      // And what is well formed, but out of all bounds.
      for (let i = 0; i < 20_000; i++) channel.postMessage([1, 3, 5, `k${i}`, -1e300, 0, 0, 0]);
      channel.postMessage([1, 1, 5, "https://forever.test", 2 ** 40, 1e300, 1e300, 1e300]);
      channel.postMessage([1, 2, 5, "https://forever.test", 1e300, 1e300, 0, 0]);
      channel.postMessage([1, 5, 5, "https://forever.test", 1e300, 0, 0, 0]);
    }, server.url);
    await tab.waitForFunction(() => client.circuits.get("https://forever.test")?.status === "open");
    const { count, opened } = await tab.evaluate(() => ({
      count: client.circuits.getSnapshot().length,
      opened: client.circuits.getSnapshot().filter(({ status }) => status !== "closed"),
    }));
    assert.ok(count <= 1_000, `${count} circuits`);
    assert.deepEqual(
      opened.map(({ key }) => key),
      ["https://forever.test"],
    );
    assert.ok(opened[0].remaining <= 86_400_000);
    assert.equal(await call(tab, "/x"), 200);
    assert.deepEqual(faults, []);
  });
});
