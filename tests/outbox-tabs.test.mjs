// The tabs of an origin, real ones, with one outbox together.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { engine, except, INSECURE_HOST } from "./support/browser.mjs";
import { start } from "./support/launch.mjs";
import { become, empty, flush, inTabs, keys, list, listed, post, sends, texts, told } from "./support/outbox.mjs";

const PATIENCE = { timeout: 120_000 };
const CDP = { firefox: "the driver cannot do that to a page", webkit: "the driver cannot do that to a page" };
const world = inTabs();
const until = (condition, what) => world.server.until(condition, what);
const hits = (path = "/x") => world.server.hits(path);
const all = (tabs, act, input) => Promise.all(tabs.map((tab) => tab.evaluate(act, input)));
/** Where there are no Web Locks. */
const insecure = () => world.server.url.replace("127.0.0.1", INSECURE_HOST);

/** Tabs of which the first one sends. */
async function open(count, options = {}, more = {}) {
  const tabs = [await world.open(options, more)];
  await sends(tabs[0]);
  while (tabs.length < count) tabs.push(await world.open(options, more));
  return tabs;
}

const senders = async (tabs) => {
  const all = await Promise.all(tabs.map((tab) => tab.evaluate(() => outbox.getSnapshot().sender)));
  return all.flatMap((sends, place) => (sends ? [place] : []));
};

describe("tabs with one outbox together", () => {
  test("have one sender, and what any of them sends arrives in the order of the ids", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 10 });
    const tabs = await open(3);
    const ids = await Promise.all(
      tabs.flatMap((tab, at) => [0, 1, 2, 3].map(async (i) => [await post(tab, `${at}${i}`), `${at}${i}`])),
    );
    await Promise.all(tabs.map(empty));
    const expected = ids.sort(([one], [other]) => one - other).map(([, text]) => text);
    assert.deepEqual(texts(hits()), expected);
    assert.deepEqual(await senders(tabs), [0]);
    assert.deepEqual(world.faults, []);
  });

  test("show the same entries in the same states, and are told the same events", PATIENCE, async () => {
    world.server.script("/x", [422, { status: 200, delay: 300 }, { status: 503, retryAfter: 600 }]);
    const tabs = await open(3);
    await post(tabs[1], "a");
    await post(tabs[2], "b");
    await post(tabs[0], "c");
    await post(tabs[1], "d");
    await Promise.all(tabs.map((tab) => listed(tab, "c waiting", "d queued", "a rejected")));
    const ends = await all(tabs, () => outbox.getSnapshot().entries[0].state.retryAt);
    assert.equal(new Set(ends).size, 1);
    for (const events of await Promise.all(tabs.map(told))) assert.deepEqual(events, ["rejected a", "delivered b"]);
    const answers = await all(tabs, () => outbox.getSnapshot().rejected[0].state.response.status);
    assert.deepEqual(answers, [422, 422, 422]);
    const late = await world.open();
    await listed(late, "c waiting", "d queued", "a rejected");
    assert.deepEqual(world.faults, []);
  });

  test("have the answer in the tab that wanted it, though another one has sent it", PATIENCE, async () => {
    world.server.script("/x", [
      { body: "thanks", headers: { "X-Place": "7" } },
      { status: 422, body: "no" },
    ]);
    const [, other] = await open(2);
    const answers = await other.evaluate(async () => {
      await post("a");
      await post("b");
      const [a, b] = [await entries.a.response, await entries.b.response];
      return [a.status, a.headers.get("X-Place"), await a.text(), b.status, await b.text()];
    });
    assert.deepEqual(answers, [200, "7", "thanks", 422, "no"]);
  });

  test("pause, go on, take back and send now what another tab has", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 600 }, 422, 200]);
    const [sender, other] = await open(2);
    await other.evaluate(() => outbox.pause());
    await become(sender, () => outbox.getSnapshot().paused);
    for (const name of ["a", "b", "c"]) await post(sender, name);
    await listed(other, "a queued", "b queued", "c queued");
    assert.equal(hits().length, 0);
    await other.evaluate(() => outbox.resume());
    await listed(other, "a waiting", "b queued", "c queued");
    await other.evaluate(() => outbox.getSnapshot().entries[1].cancel());
    await listed(sender, "a waiting", "c queued");
    assert.equal(await sender.evaluate(() => fault(() => entries.b.response)), "cancelled");
    assert.equal(await other.evaluate(() => outbox.getSnapshot().entries[0].retryNow()), true);
    await listed(other, "a rejected");
    await listed(sender, "a rejected");
    assert.equal(await other.evaluate(() => outbox.getSnapshot().rejected[0].retryNow()), true);
    await Promise.all([sender, other].map((tab) => listed(tab)));
    assert.deepEqual(texts(hits()), ["a", "a", "c", "a"]);
  });

  test("say that a click has no effect where there is nothing to end, whoever sends", PATIENCE, async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const tabs = await open(2);
    await post(tabs[0], "a");
    await post(tabs[0], "b");
    for (const tab of tabs) await listed(tab, "a waiting", "b queued");
    const clicks = () => all(tabs, () => outbox.getSnapshot().entries.map((entry) => entry.retryNow()));
    await tabs[0].evaluate(() => outbox.pause());
    for (const tab of tabs) await become(tab, () => outbox.getSnapshot().paused);
    assert.deepEqual(await clicks(), [
      [false, false],
      [false, false],
    ]);
    await tabs[0].evaluate(() => outbox.resume());
    for (const tab of tabs) await become(tab, () => !outbox.getSnapshot().paused);
    for (const tab of tabs) await listed(tab, "a waiting", "b queued");
    assert.deepEqual(await all(tabs, () => outbox.getSnapshot().entries[1].retryNow()), [false, false]);
    assert.equal(hits().length, 1);
  });

  test("all know what became of the last attempt", PATIENCE, async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const tabs = await open(2);
    await post(tabs[1], "a");
    for (const tab of tabs) await listed(tab, "a waiting");
    const failures = () => all(tabs, () => outbox.getSnapshot().entries[0].state.failure);
    assert.deepEqual(await failures(), [{ status: 503 }, { status: 503 }]);
    tabs.push(await world.open());
    await listed(tabs[2], "a waiting");
    assert.deepEqual((await failures())[2], { status: 503 });
  });

  test("give up a request that is out when another tab takes it back", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const [sender, other] = await open(2);
    const body = "l".repeat(100_000);
    await post(sender, "a", { body });
    await listed(other, "a sending");
    await until(() => hits().length === 1);
    await other.evaluate(() => outbox.getSnapshot().entries[0].cancel());
    await until(() => hits()[0].aborted);
    await listed(sender);
  });

  test("can all flush", PATIENCE, async () => {
    world.server.script("/x", [
      { status: 503, retryAfter: 600 },
      { status: 200, delay: 200 },
    ]);
    const [sender, other] = await open(2);
    await post(sender, "a");
    await listed(other, "a waiting");
    assert.equal(await flush(other), 0);
    assert.equal(hits().length, 2);
    assert.deepEqual(await list(sender), []);
  });

  test("do not miss what another one adds while they open", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const [tab] = await open(1);
    const seen = await tab.evaluate(async () => {
      const storage = outboxes.indexedDBStorage();
      const { list } = storage;
      let opened;
      const asked = new Promise((resolve) => {
        storage.list = async () => {
          const found = await list.call(storage);
          resolve();
          await new Promise((resolve) => {
            opened = resolve;
          });
          return found;
        };
      });
      const late = outboxes.createOutbox(client, { storage });
      await asked;
      await post("a");
      opened();
      for (let i = 0; i < 100 && !late.getSnapshot().count; i++) await new Promise((done) => setTimeout(done, 20));
      return late.getSnapshot().entries.map(({ meta }) => meta);
    });
    assert.deepEqual(seen, ["a"]);
  });

  test("know how an entry is though they hear that before they have read it", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const [tab] = await open(1);
    const seen = await tab.evaluate(async () => {
      const storage = outboxes.indexedDBStorage();
      const { read } = storage;
      storage.read = async (id) => {
        const record = await read.call(storage, id);
        await new Promise((resolve) => setTimeout(resolve, 500));
        return record;
      };
      const late = outboxes.createOutbox(client, { storage });
      await late.flush();
      await post("a");
      for (let i = 0; i < 250 && !late.getSnapshot().count; i++) await new Promise((done) => setTimeout(done, 20));
      await new Promise((resolve) => setTimeout(resolve, 100));
      return late.getSnapshot().entries.map(({ state }) => state.status);
    });
    assert.deepEqual(seen, ["sending"]);
  });

  test("know that an entry is over though they hear that before they know that it is stored", PATIENCE, async () => {
    world.server.script("/x", 200);
    const [tab] = await open(1);
    const seen = await tab.evaluate(async () => {
      const storage = outboxes.indexedDBStorage();
      const { add } = storage;
      let written;
      const stored = new Promise((resolve) => {
        written = resolve;
      });
      storage.add = async (...args) => {
        const id = await add.apply(storage, args);
        written();
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return id;
      };
      const late = outboxes.createOutbox(client, { storage });
      await late.flush();
      const sent = late.send("/x", { method: "POST", body: "a" });
      await stored;
      await post("b");
      const response = await (await sent).response;
      return [response.status, late.getSnapshot().count];
    });
    assert.deepEqual(seen, [200, 0]);
    assert.deepEqual(texts(hits()), ["a", "b"]);
  });

  test("show no dead letter of what one of them takes back while its refusal still comes", PATIENCE, async () => {
    world.server.script("/x", { status: 422, body: "0123456789".repeat(4), drip: { bytes: 10, every: 500 } });
    const [sender, other] = await open(2);
    await post(sender, "a");
    await listed(other, "a sending");
    await until(() => hits()[0]?.answeredAt);
    await sender.waitForTimeout(500);
    await other.evaluate(() => outbox.getSnapshot().entries[0].cancel());
    await listed(other);
    await until(() => hits()[0].closed);
    await listed(sender);
  });

  test("show no entry that one takes out while another takes it up again", PATIENCE, async () => {
    world.server.script("/x", 422);
    const tab = await world.open();
    await tab.evaluate(async () => {
      const storage = outboxes.memoryStorage();
      const [one, two] = [1, 2].map(() => outboxes.createOutbox(client, { storage }));
      const rejected = (outbox) =>
        new Promise((resolve) => outbox.subscribe((now) => now.rejected.length && resolve(now.rejected[0])));
      await one.send("/x", { method: "POST" });
      const [dead, again] = await Promise.all([one, two].map(rejected));
      const { patch } = storage;
      storage.patch = async (...args) => {
        dead.cancel();
        // Until the other one has been told.
        await new Promise((resolve) => setTimeout(resolve, 500));
        return patch.apply(storage, args);
      };
      again.retryNow();
      globalThis.both = [one, two];
    });
    await become(tab, () =>
      both.every((outbox) => !outbox.getSnapshot().count && !outbox.getSnapshot().rejected.length),
    );
    assert.equal(hits().length, 1);
  });

  test("are ten, of which each sends and some are closed, and nothing is lost or doubled", PATIENCE, async () => {
    const effects = new Map();
    world.server.script("/x", ({ headers, text }) => {
      effects.set(headers["idempotency-key"], text);
      return { status: 200, delay: 20 };
    });
    const tabs = await open(10);
    for (let round = 0; round < 5; round++) {
      await Promise.all(tabs.map((tab, at) => post(tab, `${at}-${round}`)));
      // The one that sends goes, and so does what it has out.
      const [first] = await senders(tabs);
      if (first !== undefined) await tabs.splice(first, 1)[0].close();
    }
    await Promise.all(tabs.map(empty));
    assert.equal(effects.size, 10 + 9 + 8 + 7 + 6);
    assert.equal(new Set(effects.values()).size, effects.size);
    // Each tab's in order, however often one was sent again.
    const firsts = [...new Set(texts(hits()))];
    for (let at = 0; at < 10; at++) {
      const own = firsts.filter((text) => text.startsWith(`${at}-`));
      assert.deepEqual(own, [...own].sort());
    }
    assert.equal((await senders(tabs)).length, 1);
    assert.deepEqual(world.faults, []);
  });
});

describe("the next tab sends", () => {
  /** Two tabs, of which the first has one request out; `go` takes it away. */
  async function handOver(go, more) {
    world.server.script("/x", [({ text }) => (text === "a" ? "stall" : 200), 200]);
    const tabs = await open(2, {}, more);
    await post(tabs[0], "a");
    await post(tabs[1], "b");
    await until(() => hits().length === 1);
    await go(tabs[0]);
    await sends(tabs[1]);
    await empty(tabs[1]);
    // What was out may go once more, with its key.
    assert.deepEqual([...new Set(texts(hits()))], ["a", "b"]);
    assert.equal(new Set(keys(hits())).size, 2);
    return [...tabs, hits().length];
  }

  test("when the one that sends is closed", PATIENCE, () => handOver((tab) => tab.close()));

  test("when it goes to another page", PATIENCE, () => handOver((tab) => tab.goto(`${world.server.origin2}/`)));

  test("when its outbox is disposed of", PATIENCE, () => handOver((tab) => tab.evaluate(() => outbox.dispose())));

  test("when it crashes", { ...PATIENCE, ...except(CDP) }, () => handOver(crash));

  test("when it is frozen, which knows of it once it is no more", PATIENCE, async () => {
    let thaw;
    const [frozen, other, before] = await handOver(async (tab) => {
      await tab.evaluate(() => void document.dispatchEvent(new Event("freeze")));
      thaw = await halt(tab);
    });
    await thaw();
    await frozen.evaluate(() => void document.dispatchEvent(new Event("resume")));
    await listed(frozen);
    await other.close();
    await sends(frozen);
    await post(frozen, "c");
    await empty(frozen);
    assert.deepEqual(texts(hits().slice(before)), ["c"]);
  });

  test("when it leaves for the cache, and it may send again when it is back", PATIENCE, async () => {
    const [back, other, before] = await handOver((tab) => leave(tab, "pagehide"));
    await post(other, "c");
    await empty(other);
    await leave(back, "pageshow");
    await listed(back);
    await other.close();
    await sends(back);
    await post(back, "d");
    await empty(back);
    assert.deepEqual(texts(hits().slice(before)), ["c", "d"]);
  });

  test("and what the one that left had sent is not sent again from there", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, delay: 1_000 }, 200]);
    const [tab] = await open(1);
    await post(tab, "a");
    await until(() => hits().length === 1);
    await leave(tab, "pagehide");
    await until(() => hits()[0].closed);
    await tab.waitForTimeout(1_000);
    assert.equal(hits().length, 1);
    await leave(tab, "pageshow");
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "a"]);
  });

  test("by a lease where there are no locks, when it is closed", PATIENCE, async () => {
    const [, other] = await handOver((tab) => tab.close(), { url: insecure() });
    assert.equal(await other.evaluate(() => typeof navigator.locks), "undefined");
  });

  test("by a lease, when it crashes", { ...PATIENCE, ...except(CDP) }, () => handOver(crash, { url: insecure() }));

  test("by a lease, when it hangs, which sends nothing afterwards", { ...PATIENCE, ...except(CDP) }, async () => {
    let thaw;
    const halted = async (tab) => {
      // Not amid a transaction, which the browser would keep open, and all others waiting.
      await tab.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
      thaw = await halt(tab);
    };
    const [hung, other, before] = await handOver(halted, { url: insecure() });
    await thaw();
    await post(hung, "c");
    await Promise.all([empty(hung), empty(other)]);
    assert.deepEqual(texts(hits().slice(before)), ["c"]);
    assert.deepEqual(await senders([hung, other]), [1]);
  });
});

describe("without locks", () => {
  test("one of three tabs sends, in order", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 20 });
    const tabs = await Promise.all([0, 1, 2].map(() => world.open({}, { url: insecure() })));
    await Promise.all(
      tabs.map((tab, at) => tab.evaluate((at) => Promise.all([0, 1, 2].map((i) => post(`${at}${i}`))), at)),
    );
    await Promise.all(tabs.map(empty));
    assert.equal(hits().length, 9);
    assert.equal(new Set(keys(hits())).size, 9);
    assert.equal((await senders(tabs)).length, 1);
    assert.deepEqual(world.faults, []);
  });

  test("a lease that makes no sense holds up nobody", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.page(insecure());
    const leases = [7, "mine", { holder: 7, until: 1 }, { holder: "x", until: "y" }, { holder: "x", until: 1e300 }];
    for (const [place, lease] of leases.entries()) {
      await tab.evaluate(
        async ([lease, name]) => {
          const { indexedDBStorage } = await import("steadfetch/outbox");
          await indexedDBStorage(name).note("lease", () => lease);
        },
        [lease, `o${place}`],
      );
      await world.open({ name: `o${place}` }, { page: tab });
      await post(tab, `${place}`);
      await empty(tab);
    }
    assert.deepEqual(
      texts(hits()),
      leases.map((_, place) => `${place}`),
    );
  });
});

test(
  "what anybody says on the channel changes nothing if it makes no sense, and throws nothing",
  PATIENCE,
  async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const [sender, other] = await open(2);
    const id = await post(sender, "a");
    await listed(other, "a waiting");
    const before = await all([sender, other], () => outbox.getSnapshot().entries[0].state.retryAt);
    const liar = await world.page();
    await liar.evaluate((id) => {
      const channel = new BroadcastChannel("steadfetch-outbox default");
      const bad = [
        null,
        undefined,
        "hello",
        7,
        {},
        [],
        [1],
        [1, 7],
        [1, "toString"],
        [1, "__proto__"],
        [1, "constructor", 1],
        [0, "retry-now", id],
        [2, "retry-now", id],
        ["1", "retry-now", id],
        [1, "retry-now"],
        [1, "retry-now", `${id}`],
        [1, "retry-now", id, 1],
        [1, "retry-now", -1],
        [1, "retry-now", 1.5],
        [1, "retry-now", Number.NaN],
        [1, "retry-now", 999_999],
        [1, "hello", 1],
        [1, "flush", 1],
        [1, "flushed"],
        [1, "flushed", "0"],
        [1, "flushed", -1],
        [1, "added"],
        [1, "added", 999_999],
        [1, "added", { id }],
        [1, "marked", id],
        [1, "marked", id, 1],
        [1, "marked", id, true],
        [1, "marked", 999_999, true],
        [1, "paused"],
        [1, "paused", 1],
        [1, "paused", "true"],
        [1, "looks", id],
        [1, "looks", id, 4, 0, 0, 0],
        [1, "looks", id, -1, 0, 0, 0],
        [1, "looks", id, 2, Number.NaN, 0, 0],
        [1, "looks", id, 2, -1, 0, 0],
        [1, "looks", id, 2, 0, 9, 0],
        [1, "looks", id, 2, 0, 0, -1],
        [1, "looks", id, 2, "0", 0, 0],
        [1, "looks", 999_999, 2, 0, 0, 0],
        [1, "over", id],
        [1, "over", id, 0],
        [1, "over", id, 0, undefined],
        [1, "over", id, 1, undefined],
        [1, "over", id, 2, undefined],
        [1, "over", id, 9, undefined],
        [1, "over", id, 0, {}],
        [1, "over", id, 0, { status: 200, statusText: "", headers: [], body: "text" }],
        [1, "over", id, 0, { status: 9_999, statusText: "", headers: [], body: null }],
        [1, "over", id, 0, { status: 200, statusText: "", headers: [["\n", ""]], body: null }],
        [1, "over", 999_999, 0, undefined],
      ];
      for (const message of bad) channel.postMessage(message);
      channel.close();
    }, id);
    // Once what is told after them has arrived, they have.
    await post(other, "b");
    await listed(sender, "a waiting", "b queued");
    const after = await all([sender, other], () => outbox.getSnapshot().entries[0].state.retryAt);
    assert.deepEqual(after, before);
    assert.deepEqual(await all([sender, other], () => [list(), told, outbox.getSnapshot().paused]), [
      [["a waiting", "b queued"], [], false],
      [["a waiting", "b queued"], [], false],
    ]);
    assert.equal(hits().length, 1);
    assert.deepEqual(world.faults, []);
  },
);

describe("a page that the browser really keeps", () => {
  test("lets another tab send, and comes back to what is left", { ...PATIENCE, ...except(CDP) }, async (t) => {
    const browser = await start("chromium", [], ["--disable-back-forward-cache"]);
    t.after(() => browser.close());
    const context = await browser.newContext();
    const pages = await Promise.all([context.newPage(), context.newPage()]);
    world.server.script("/x", 200);
    world.server.script("/stuck", { status: 503, retryAfter: 600 });
    const [kept, other] = pages;
    for (const page of pages) {
      await page.goto(world.server.url);
      await world.open({}, { page });
    }
    await sends(kept);
    await post(kept, "a", { path: "/stuck" });
    await listed(other, "a waiting");
    await kept.goto(`${world.server.url}/?next`);
    await sends(other);
    await other.evaluate(() => outbox.getSnapshot().entries[0].cancel());
    await post(other, "b");
    await empty(other);
    // What is kept does not load again.
    await kept.goBack({ waitUntil: "commit" });
    assert.equal(await kept.evaluate(() => typeof globalThis.outbox), "object", "it was kept");
    await listed(kept);
    await other.close();
    await sends(kept);
    await post(kept, "c");
    await empty(kept);
    assert.deepEqual(texts(hits()), ["b", "c"]);
  });
});

const leave = (tab, type) =>
  tab.evaluate((type) => void dispatchEvent(new PageTransitionEvent(type, { persisted: true })), type);

async function crash(tab) {
  const session = await world.context.newCDPSession(tab);
  const crashed = new Promise((resolve) => tab.once("crash", resolve));
  session.send("Page.crash").catch(() => {});
  await crashed;
}

/** Nothing of the page runs any more, where the driver can do that; gives what lets it run. */
async function halt(tab) {
  if (engine !== "chromium") return () => {};
  const session = await world.context.newCDPSession(tab);
  await session.send("Debugger.enable");
  await session.send("Debugger.pause");
  return () => session.detach();
}
