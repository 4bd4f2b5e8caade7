// Real tabs with an outbox each, against a real server.
//
//   const world = inTabs();                            // a new context and a new server, so a new origin, for each test
//   const tab = await world.open({ maxEntries: 2 });   // a page with `client`, `outbox` and what is below
//   await post(tab, "a");
import { afterEach, before, beforeEach } from "node:test";
import { launch } from "./browser.mjs";
import { packageFiles } from "./packed.mjs";
import { startServer } from "./server.mjs";

/** What a call of the client has: it waits little. */
export const QUICK = { retry: { delay: 20, jitter: "none" }, breaker: false, budget: false };

/** @param {() => object | Promise<object>} [pages]  more of them for the server */
export function inTabs({ pages = () => ({}), start = launch } = {}) {
  let files;
  /** A frame without an origin gets a module only where that is allowed. */
  const readable = (request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    return files(request, response);
  };
  const world = {
    faults: [],
    /** A tab with an outbox; `page` is one that is there, at the page already. */
    async open(options = {}, { client = QUICK, url = world.server.url, page, init } = {}) {
      const tab = page ?? (await world.page(url, init));
      await begin(tab, options, client);
      return tab;
    },
    async page(url = world.server.url, init) {
      const tab = await world.context.newPage();
      tab.on("pageerror", (error) => world.faults.push(error.stack));
      tab.on("console", (message) => message.type() === "warning" && world.faults.push(message.text()));
      if (init) await tab.addInitScript(init);
      await tab.goto(url);
      return tab;
    },
    /** The same page, loaded anew. */
    async reload(tab, options = {}, client = QUICK) {
      await tab.reload();
      await begin(tab, options, client);
    },
  };
  before(async () => {
    world.browser = await start();
    files = await packageFiles(await pages());
  });
  beforeEach(async () => {
    world.context = await world.browser.newContext();
    world.server = await startServer({ cors: true, files: readable });
    world.faults = [];
  });
  afterEach(async () => {
    await world.context.close();
    await world.server.close();
  });
  return world;
}

/** What the page of a tab has. Options are plain, but for functions, which are given as their text. */
function begin(tab, options, client) {
  const inPage = async ([options, client]) => {
    const { createFetch } = await import("steadfetch");
    const outboxes = await import("steadfetch/outbox");
    const functions = [
      [options, "queueKey"],
      [options, "prepare"],
      [client, "fetch"],
    ];
    for (const [all, name] of functions) {
      // biome-ignore lint/security/noGlobalEval: a function cannot be handed over otherwise
      if (all[name]) all[name] = globalThis.eval(`(${all[name]})`);
    }
    globalThis.outboxes = outboxes;
    globalThis.client = createFetch(client);
    globalThis.outbox = outboxes.createOutbox(globalThis.client, options);
    /** Once it knows what is stored, or that it cannot. */
    globalThis.opened = globalThis.outbox.quarantined().then(
      () => {},
      () => {},
    );
    globalThis.entries = {};
    globalThis.told = [];
    for (const type of ["delivered", "rejected", "expired", "storage-full", "storage-error", "quarantined"]) {
      globalThis.outbox.addEventListener(type, ({ detail }) => {
        globalThis.told.push(`${type} ${detail.meta ?? detail.code ?? detail.reason}`);
      });
    }
    /** Sends a text, which is also its name here. */
    globalThis.post = async (name, { path = "/x", ...init } = {}) => {
      const entry = await globalThis.outbox.send(path, { method: "POST", body: name, meta: name, ...init });
      globalThis.entries[name] = entry;
      return entry.id;
    };
    /** The list, as names and states. */
    globalThis.list = () => {
      const { entries, rejected } = globalThis.outbox.getSnapshot();
      return [...entries, ...rejected].map(({ meta, state }) => `${meta} ${state.status}`);
    };
    /** What an act throws. */
    globalThis.fault = (act) => {
      const told = ({ name, code, message }) => (name === "OutboxError" ? code : `${name}: ${message}`);
      return new Promise((resolve) => {
        resolve(act());
      }).then(() => undefined, told);
    };
  };
  return tab.evaluate(inPage, [options, client]);
}

export const post = (tab, name, init) => tab.evaluate(([name, init]) => globalThis.post(name, init), [name, init]);
export const list = (tab) => tab.evaluate(() => globalThis.list());
export const told = (tab) => tab.evaluate(() => globalThis.told);
export const flush = (tab) => tab.evaluate(() => globalThis.outbox.flush());

/** Waits until that holds in the page, which need not be in front. */
export const become = (tab, condition, input) => tab.waitForFunction(condition, input, { polling: 20 });

/** Waits until the list of a tab is this one. */
export const listed = (tab, ...lines) =>
  become(tab, (lines) => globalThis.list().join("\n") === lines, lines.join("\n"));

/** Waits until nothing is pending any more. */
export async function empty(tab) {
  await tab.evaluate(() => globalThis.opened);
  await become(tab, () => globalThis.outbox.getSnapshot().count === 0);
}

/** Waits until the tab is the one that sends. */
export const sends = (tab) => become(tab, () => globalThis.outbox.getSnapshot().sender);

export const texts = (hits) => hits.map(({ text }) => text);
export const keys = (hits) => hits.map(({ headers }) => headers["idempotency-key"]);
