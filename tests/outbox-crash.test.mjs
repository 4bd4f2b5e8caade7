// Pages, renderers and workers that die between two steps of an outbox. What was stored is delivered all the same, once in
// effect and in order.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { bundleOutbox } from "../scripts/build.mjs";
import { except, launch } from "./support/browser.mjs";
import { crashFiles, pointNames } from "./support/crashes/build.mjs";
import { effects } from "./support/crashes/effects.mjs";
import { judge } from "./support/crashes/run.mjs";
import { start } from "./support/launch.mjs";
import { install } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const PATIENCE = { timeout: 600_000 };
/** How many pages there are at a time. */
const AT_ONCE = 3;
/** How many frames have their lives in one page: a browser has room for the memory of some hundred instances of WebAssembly. */
const IN_ONE = 30;
/** What a life has stored when it is over, in this order, and what the server does with it. */
const LIFE = { blob: [], busy: ["later"], refused: ["refuse"], large: [], late: [["late", 300]] };
/** Only where there are no locks. */
const LEASE = ["leasing", "leased"];
const cdp = { firefox: "there is no protocol for it", webkit: "there is no protocol for it" };

const names = await pointNames();
let browser;
let server;
let book;

before(async () => {
  browser = await launch();
  book = effects((entry, nth) => LIFE[entry.split(" ")[1]]?.[nth] ?? "ok");
  server = await startServer({ files: await crashFiles() });
  server.script("/write", (hit) => book.step(hit));
  server.script("/reached", "stall");
  server.script("/passed", 204);
});

after(() => server.close());

/** A page in a profile of its own. */
async function newPage(context) {
  const page = await context.newPage();
  await page.goto(server.url);
  return page;
}

const call = (page, name, input) =>
  page.evaluate(async ([name, input]) => (await import("/crashes/page.mjs"))[name](input), [name, input]);

/** What is wrong with the entries of a life: `told` is what its tab said of them, `mended` what the next one found. */
function faultsOf(name, told, mended) {
  const entries = Object.keys(LIFE).map((kind) => ({ entry: `${name} ${kind}`, queue: "q" }));
  const all = {
    ...mended,
    stored: [...told.stored, ...mended.stored],
    ids: { ...told.ids, ...mended.ids },
    // By its own tab, too.
    revived: [...mended.revived, `${name} refused`],
  };
  return judge({ entries }, all, book.writes).wrong;
}

/** Does it with each, some at a time. */
async function each(list, act, atOnce = AT_ONCE) {
  const rest = [...list];
  const work = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** At which points a worker was stopped. */
const stopped = new Set();

/**
 * Entries that a page left behind are delivered by a service worker, of which the first one hangs at a point and is
 * stopped there. Returns what was wrong, and what points were passed.
 */
async function drained(name, at) {
  const context = await browser.newContext();
  const page = await newPage(context);
  const session = await context.newCDPSession(page);
  const versions = [];
  session.on("ServiceWorker.workerVersionUpdated", (update) => versions.push(...update.versions));
  await session.send("ServiceWorker.enable");
  const entries = Object.keys(LIFE).map((kind) => `${name} ${kind}`);
  const told = await call(page, "leave", { name: "worker", entries });
  const wake = async (script) => {
    await page.evaluate((script) => navigator.serviceWorker.register(script, { type: "module" }), script);
    const found = () =>
      versions.findLast(({ scriptURL, status }) => scriptURL === server.url + script && status === "activated");
    await server.until(found, script);
    const { registrationId } = found();
    const sync = { origin: server.url, registrationId, tag: "steadfetch-outbox worker", lastChance: false };
    await session.send("ServiceWorker.dispatchSyncEvent", sync);
  };
  const there = (entry) => book.writes.get(entry)?.effects.length;
  const delivered = () => entries.every((entry) => there(entry) || entry.endsWith("refused"));
  if (at) {
    const hung = () => server.hits("/reached").some(({ url }) => url === `/reached?${at}`);
    await wake(`/worker.mjs?at=${at}`);
    // Some points are only passed where there is news, or a wait.
    await server.until(() => hung() || delivered(), `${at} to be reached`);
    if (hung()) stopped.add(at);
    await session.send("ServiceWorker.stopAllWorkers");
  }
  await wake("/worker.mjs");
  await server.until(delivered, "the worker to deliver");
  const faults = faultsOf(name, told, await call(page, "mend", { name: "worker" }));
  await context.close();
  return faults;
}

/** Has a page die at each point by `kill`, opens another, and returns what was wrong with which. */
async function pagesThatDie(how, kill, { within = browser, atOnce = AT_ONCE } = {}) {
  const wrong = {};
  await each(
    names,
    async (point) => {
      const name = `${how}:${point}`;
      const locks = !LEASE.includes(point);
      const context = await within.newContext();
      const page = await newPage(context);
      call(page, "live", { name, locks, hang: true, fatal: { point, nth: 1 } }).catch(() => {});
      const told = await reached(name);
      await kill(page);
      const faults = faultsOf(name, told, await call(await newPage(context), "mend", { name, locks }));
      if (faults.length) wrong[point] = faults;
      await context.close();
    },
    atOnce,
  );
  return wrong;
}

async function reached(name) {
  const text = () => server.hits("/reached").find(({ text }) => text && JSON.parse(text).name === name)?.text;
  await server.until(text, `${name} to be reached`, { within: 60_000 });
  return JSON.parse(text());
}

test("the package has no points, which the build for tests has", async () => {
  const file = path.join(await install(), "node_modules/steadfetch/dist/outbox.js");
  const { js } = await bundleOutbox({ points: true });
  // Those that are no word of its own.
  const signs = ["steadfetchPoint", ...names.filter((name) => name.includes("-"))];
  const found = (code) => signs.filter((sign) => code.includes(sign));
  assert.deepEqual(found(String(js)), signs);
  assert.deepEqual(found(await readFile(file, "utf8")), []);
});

describe("an outbox whose page dies", () => {
  test("loses nothing and doubles nothing when its tab goes at any step that it takes", PATIENCE, async () => {
    const seen = new Set();
    const wrong = {};
    for (const locks of [true, false]) {
      const first = await newPage(await browser.newContext());
      const { passed } = await call(first, "live", { name: `whole-${locks}`, locks });
      await first.context().close();
      for (const point of passed) seen.add(point);
      // A lease lasts ten seconds: of those only what is not there with locks.
      const steps = [...passed.keys()].filter((step) => locks || LEASE.includes(passed[step]));
      while (steps.length) {
        const context = await browser.newContext();
        const page = await newPage(context);
        await each(steps.splice(0, IN_ONE), async (step) => {
          const nth = step + 1;
          const name = `frame-${locks}:${nth}`;
          const told = await call(page, "live", { name, locks, fatal: { nth } });
          for (const point of told.passed) seen.add(point);
          const faults = faultsOf(name, told, await call(page, "mend", { name, locks }));
          if (faults.length) wrong[`${nth} ${told.passed.at(-1)}`] = faults;
        });
        await context.close();
      }
    }
    assert.deepEqual([...seen].sort(), [...names].sort());
    assert.deepEqual(wrong, {});
  });

  test("loses nothing and doubles nothing when its page is closed at a point", PATIENCE, async () => {
    assert.deepEqual(await pagesThatDie("close", (page) => page.close({ runBeforeUnload: false })), {});
  });

  test("loses nothing and doubles nothing when its renderer crashes at a point", {
    ...PATIENCE,
    ...except(cdp),
  }, async () => {
    // One of its own, in which all renderers can be killed; Page.crash waits for what hangs.
    const within = await start("chromium");
    const session = await within.newBrowserCDPSession();
    const crash = async (page) => {
      const crashed = page.waitForEvent("crash");
      const { processInfo } = await session.send("SystemInfo.getProcessInfo");
      for (const { type, id } of processInfo) if (type === "renderer") process.kill(id, "SIGKILL");
      await crashed;
      await page.close();
    };
    const wrong = await pagesThatDie("crash", crash, { within, atOnce: 1 }).finally(() => within.close());
    assert.deepEqual(wrong, {});
  });
});

describe("an outbox whose service worker dies", except(cdp), () => {
  test("loses nothing and doubles nothing when it is stopped at any point of a drain", PATIENCE, async () => {
    assert.deepEqual(await drained("whole"), []);
    const points = new Set(server.hits("/passed").map(({ url }) => url.slice("/passed?".length)));
    const wrong = {};
    await each(points, async (point) => {
      const faults = await drained(`worker:${point}`, point);
      if (faults.length) wrong[point] = faults;
    });
    assert.deepEqual(wrong, {});
    for (const point of ["loading", "taken-over", "looked", "sent", "answered", "removing", "removed"]) {
      assert.ok(stopped.has(point), point);
    }
  });
});
