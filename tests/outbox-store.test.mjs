// The store of an outbox when it is full, refused, not ours, damaged or gone, in a real browser.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { except } from "./support/browser.mjs";
import { become, empty, flush, inTabs, list, listed, post, QUICK, texts, told } from "./support/outbox.mjs";
import { blank } from "./support/packed.mjs";

const PATIENCE = { timeout: 60_000 };
const NAME = "steadfetch-outbox default";
const HTML = { "Content-Type": "text/html" };
const world = inTabs({
  pages: () => ({
    "/inside": {
      headers: HTML,
      body: (head) =>
        blank(`${head}<script type="module">
          import { createFetch } from "steadfetch";
          import { createOutbox } from "steadfetch/outbox";
          const send = (options) =>
            createOutbox(createFetch(), options).send("/x", { method: "POST", body: "in a frame" });
          const seen = [];
          seen.push(await send().then(() => "stored", ({ code }) => code));
          seen.push((await (await send({ onStorageDenied: "memory" })).response).status);
          parent.postMessage(seen, "*");
        </script>`),
    },
  }),
});
const hits = (path = "/x") => world.server.hits(path);

/** Does something to the database itself, in one transaction over all of it. */
const inDatabase = (tab, act, input) =>
  tab.evaluate(
    `(async () => {
      const request = indexedDB.open(${JSON.stringify(NAME)});
      const db = await new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      const tx = db.transaction([...db.objectStoreNames], "readwrite");
      const result = await (${act})(tx, ${JSON.stringify(input) ?? "undefined"});
      await new Promise((resolve, reject) => {
        tx.oncomplete = resolve;
        tx.onabort = () => reject(tx.error);
      });
      db.close();
      return result;
    })()`,
  );

/** A paused tab with entries of these names, of which nothing is sent before the reload. */
async function paused(...names) {
  world.server.script("/x", 200);
  const tab = await world.open();
  await tab.evaluate(() => outbox.pause());
  for (const name of names) await post(tab, name);
  return tab;
}

async function resumed(tab, options) {
  await world.reload(tab, options);
  await tab.evaluate(() => outbox.resume());
}

describe("a store that is refused", () => {
  const throws = () =>
    Object.defineProperty(globalThis, "indexedDB", {
      get() {
        throw new DOMException("The operation is insecure.", "SecurityError");
      },
    });
  const missing = () => Object.defineProperty(globalThis, "indexedDB", { value: undefined });
  const fails = () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException(
        "A mutation operation was attempted on a database that did not allow it.",
        "InvalidStateError",
      );
    };
  };

  for (const [how, init] of Object.entries({ throws, missing, fails })) {
    test(`(indexedDB ${how}) is told by send(), by an event, and by nothing else`, PATIENCE, async () => {
      const tab = await world.open({}, { init });
      const seen = await tab.evaluate(async () => [
        await fault(() => post("a")),
        await fault(() => outbox.pause()),
        await fault(() => outbox.quarantined()),
        await outbox.flush(),
        outbox.getSnapshot().durable,
      ]);
      assert.deepEqual(seen, ["storage-denied", "storage-denied", "storage-denied", 0, false]);
      assert.deepEqual(await told(tab), ["storage-error storage-denied"]);
      assert.deepEqual(world.faults, []);
    });

    test(`(indexedDB ${how}) is memory where that is wanted`, PATIENCE, async () => {
      world.server.script("/x", [503, 422, 200]);
      const tab = await world.open({ onStorageDenied: "memory" }, { init });
      await post(tab, "a");
      await post(tab, "b");
      await listed(tab, "a rejected");
      assert.deepEqual(texts(hits()), ["a", "a", "b"]);
      assert.equal(await tab.evaluate(() => outbox.getSnapshot().durable), false);
      assert.deepEqual(await told(tab), ["storage-error storage-denied", "rejected a", "delivered b"]);
    });
  }

  test("in a frame without an origin is told, and memory does", PATIENCE, async () => {
    world.server.script("/x", 200);
    const page = await world.page();
    const seen = await page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener("message", ({ data }) => resolve(data));
          const frame = document.createElement("iframe");
          frame.sandbox = "allow-scripts";
          frame.src = "/inside";
          document.body.append(frame);
        }),
    );
    assert.deepEqual(seen, ["storage-denied", 200]);
  });
});

describe("a store without room", () => {
  const CDP = { firefox: "the driver cannot set a quota", webkit: "the driver cannot set a quota" };

  test("refuses what does not fit, keeps what it has, and takes what fits", {
    ...PATIENCE,
    ...except(CDP),
  }, async () => {
    world.server.script("/x", 200);
    const tab = await world.page();
    const session = await world.context.newCDPSession(tab);
    await session.send("Storage.overrideQuotaForOrigin", { origin: world.server.url, quotaSize: 1_000_000 });
    await world.open({}, { page: tab });
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a");
    const thrown = await tab.evaluate(() => {
      // Of what nobody can compress.
      const bytes = new Uint8Array(3_000_000);
      for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      return fault(() => post("large", { body: bytes }));
    });
    assert.equal(thrown, "storage-full");
    assert.deepEqual(await told(tab), ["storage-full storage-full"]);
    // When the browser gives back what did not fit is its own matter, and may take minutes.
    await session.send("Storage.overrideQuotaForOrigin", { origin: world.server.url, quotaSize: 50_000_000 });
    await post(tab, "b");
    assert.deepEqual(await list(tab), ["a queued", "b queued"]);
    await resumed(tab);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "b"]);
    assert.deepEqual(world.faults, []);
  });
});

test(
  "a transaction that fails while an entry is taken out is told by an event alone, and made again",
  PATIENCE,
  async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(() => {
      const { get } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.get = function (...args) {
        const request = get.apply(this, args);
        if (this.name === "notes" && this.transaction.mode === "readwrite") {
          IDBObjectStore.prototype.get = get;
          this.transaction.abort();
        }
        return request;
      };
    });
    await post(tab, "a");
    await empty(tab);
    assert.deepEqual(await told(tab), ["storage-error storage-failed", "delivered a"]);
    assert.equal(hits().length, 1);
    assert.deepEqual(world.faults, []);
  },
);

describe("a database", () => {
  /** Makes one of that name before there is an outbox. */
  const make = (tab, version, act) =>
    tab.evaluate(
      `new Promise((resolve, reject) => {
        const request = indexedDB.open(${JSON.stringify(NAME)}, ${version});
        request.onupgradeneeded = () => (${act})(request.result);
        request.onerror = () => reject(request.error);
        request.onsuccess = () => { request.result.close(); resolve(); };
      })`,
    );

  test("that is not ours is refused and left as it is", PATIENCE, async () => {
    for (const [version, code] of [
      [1, "foreign-database"],
      [7, "newer-version"],
    ]) {
      const tab = await world.page(version === 1 ? world.server.url : world.server.origin2);
      await make(tab, version, (db) => db.createObjectStore("theirs").put("kept", "key"));
      await world.open({}, { page: tab });
      assert.equal(await tab.evaluate(() => fault(() => post("a"))), code);
      assert.deepEqual(await told(tab), [`storage-error ${code}`]);
      const kept = await inDatabase(tab, async (tx) => {
        const request = tx.objectStore("theirs").get("key");
        await new Promise((resolve) => {
          request.onsuccess = resolve;
        });
        return request.result;
      });
      assert.equal(kept, "kept");
    }
    assert.deepEqual(world.faults, []);
  });

  test("that a newer release wants to change is let go of, and what is sent then says so", PATIENCE, async () => {
    world.server.script("/x", 200);
    const [old, newer] = [await world.open(), await world.page()];
    await post(old, "a");
    await empty(old);
    await make(newer, 2, () => {});
    assert.equal(await old.evaluate(() => fault(() => post("b"))), "newer-version");
    assert.deepEqual(world.faults, []);
  });

  test("that is deleted is made anew, and no new entry is taken for an old one", PATIENCE, async () => {
    const tab = await paused("old");
    await tab.evaluate(
      (name) =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(name);
          request.onsuccess = resolve;
          request.onerror = () => reject(request.error);
        }),
      NAME,
    );
    await post(tab, "new");
    assert.equal(await tab.evaluate(() => entries.new.meta), "new");
    await listed(tab, "new queued");
    await tab.evaluate(() => outbox.resume());
    await empty(tab);
    assert.deepEqual(texts(hits()), ["new"]);
    assert.deepEqual(await told(tab), ["delivered new"]);
  });
});

describe("a record", () => {
  test("that a newer release wrote stays, is not shown, and blocks nobody", PATIENCE, async () => {
    const tab = await paused("a", "b");
    await inDatabase(tab, async (tx) => {
      const store = tx.objectStore("entries");
      const request = store.openCursor();
      await new Promise((resolve) => {
        request.onsuccess = resolve;
      });
      request.result.update({ ...request.result.value, version: 2, headers: "in another way" });
    });
    await resumed(tab);
    await listed(tab);
    assert.deepEqual(texts(hits()), ["b"]);
    assert.equal(await flush(tab), 0);
    const left = await tab.evaluate(async () => {
      const { records } = await outboxes.indexedDBStorage().list();
      return records.map(({ version, meta }) => [version, meta]);
    });
    assert.deepEqual(left, [[2, "a"]]);
    assert.deepEqual(await told(tab), ["delivered b"]);
  });

  test("that makes no sense is set aside as it was found, and the others are sent", PATIENCE, async () => {
    const damages = {
      version: [undefined, "one", 0, null],
      key: [undefined, "", 7],
      queue: [undefined, 7],
      method: [undefined, 7, "TRACE", "\n"],
      url: [undefined, 7, "", "http://["],
      headers: [undefined, "a", [["a"]], [["a", 7]], [["\n", "a"]]],
      init: [undefined, "a", { mode: 7 }, { mode: "navigate" }],
      size: [undefined, "1", -1, Number.NaN],
      createdAt: [undefined, "now"],
      attempts: [undefined, "1", -1],
      notBefore: [undefined, "1", Number.NaN],
      delay: [undefined, "1"],
      dead: [undefined, 2, "0"],
      answer: [7, { status: "200" }, { status: 200, statusText: "", headers: [], body: "text" }],
    };
    const cases = Object.entries(damages).flatMap(([name, values]) => values.map((_, at) => [name, at]));
    const names = cases.flatMap(([name, at]) => [`${name} ${at}`, `after ${name} ${at}`]);
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(async (names) => {
      await outbox.pause();
      await Promise.all(names.map((name) => post(name)));
    }, names);
    // Written in the page: what is no JSON would not arrive there.
    await inDatabase(
      tab,
      `async (tx) => {
        const damages = ${toSource(damages)};
        const request = tx.objectStore("entries").getAll();
        await new Promise((resolve) => { request.onsuccess = resolve; });
        for (const record of request.result) {
          const [name, at] = record.meta.split(" ");
          if (name !== "after") tx.objectStore("entries").put({ ...record, [name]: damages[name][at] });
        }
      }`,
    );
    await resumed(tab);
    await listed(tab);
    const sent = texts(hits());
    assert.deepEqual(
      sent,
      names.filter((name) => name.startsWith("after ")),
    );
    const aside = await tab.evaluate(async () => {
      const all = await outbox.quarantined();
      return all.map(({ id, record, body, reason, at }) => [
        record.meta,
        id === record.id && body.text === record.meta && typeof reason === "string" && Date.now() - at < 600_000,
      ]);
    });
    assert.deepEqual(
      aside,
      cases.map(([name, at]) => [`${name} ${at}`, true]),
    );
    assert.equal((await told(tab)).filter((line) => line.startsWith("quarantined ")).length, cases.length);
    assert.deepEqual(world.faults, []);
  });

  test("that is set aside brings back no entry that is taken out meanwhile", PATIENCE, async () => {
    const tab = await world.open();
    const shown = await tab.evaluate(async () => {
      const storage = outboxes.memoryStorage();
      const one = outboxes.createOutbox(client, { storage });
      await one.pause();
      const [bad, good] = [await one.send("/x", { method: "POST" }), await one.send("/x", { method: "POST" })];
      await storage.patch(bad.id, { version: 0 });
      const { quarantine } = storage;
      storage.quarantine = async (...args) => {
        good.cancel();
        // Until the other one has been told.
        await new Promise((resolve) => setTimeout(resolve, 500));
        return quarantine.apply(storage, args);
      };
      const two = outboxes.createOutbox(client, { storage });
      const { length } = await two.quarantined();
      return [length, two.getSnapshot().count];
    });
    assert.deepEqual(shown, [1, 0]);
  });

  test("whose id makes no sense is set aside, too", PATIENCE, async () => {
    const tab = await paused("a");
    await inDatabase(tab, (tx) => {
      for (const id of ["text", -1, 0.5]) {
        tx.objectStore("entries").put({ version: 1, id, queue: location.origin, dead: 0 });
      }
    });
    await resumed(tab);
    await become(tab, () => told.includes("delivered a"));
    const aside = await tab.evaluate(async () => (await outbox.quarantined()).map(({ id }) => id));
    assert.deepEqual(aside, [-1, 0.5, "text"]);
    assert.deepEqual(texts(hits()), ["a"]);
  });

  test(
    "whose body makes no sense or is missing is set aside, and no empty one is sent in its place",
    PATIENCE,
    async () => {
      const bodies = [
        undefined,
        7,
        {},
        { kind: "none" },
        { kind: "text", text: 7 },
        { kind: "bytes", bytes: "text", type: "" },
        { kind: "form", parts: 7 },
        { kind: "form", parts: [["a"]] },
        { kind: "form", parts: [["a", { bytes: "b" }]] },
        { kind: "form", parts: [["a", { bytes: null, type: "", name: "b", lastModified: null }]] },
      ];
      const tab = await paused(...bodies.map((_, at) => `${at}`), "last");
      await inDatabase(
        tab,
        (tx, bodies) => {
          const store = tx.objectStore("bodies");
          for (let id = 1; id <= bodies.length; id++) {
            if (bodies[id - 1] === null) store.delete(id);
            else {
              // No JSON has these.
              const [[, file] = []] = Array.isArray(bodies[id - 1].parts) ? bodies[id - 1].parts : [];
              if (file?.lastModified === null) Object.assign(file, { bytes: new ArrayBuffer(1), lastModified: 1n });
              store.put(bodies[id - 1], id);
            }
          }
        },
        bodies,
      );
      await resumed(tab);
      await become(tab, () => told.includes("delivered last"));
      assert.deepEqual(texts(hits()), ["last"]);
      const aside = await tab.evaluate(async () => (await outbox.quarantined()).map(({ record }) => record.meta));
      assert.deepEqual(
        aside,
        bodies.map((_, at) => `${at}`),
      );
      assert.deepEqual(await list(tab), []);
    },
  );

  test("that comes to make no sense while the page has it is set aside when its turn comes", PATIENCE, async () => {
    const tab = await paused("a", "b");
    await inDatabase(tab, (tx) =>
      tx.objectStore("entries").put({ version: 1, id: 1, queue: location.origin, dead: 0 }),
    );
    await tab.evaluate(() => outbox.resume());
    await become(tab, () => told.includes("delivered b"));
    assert.deepEqual(texts(hits()), ["b"]);
    assert.deepEqual(await list(tab), []);
  });

  test("that has options of the client says nothing to it", PATIENCE, async () => {
    const tab = await paused("a");
    await inDatabase(tab, async (tx) => {
      const store = tx.objectStore("entries");
      const request = store.get(1);
      await new Promise((resolve) => {
        request.onsuccess = resolve;
      });
      store.put({ ...request.result, init: { ...request.result.init, timeout: "short", body: "another" } });
    });
    await resumed(tab);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a"]);
  });

  test("of which no request can be made is refused and holds up nobody, with `prepare` too", PATIENCE, async () => {
    const tab = await paused("a", "b");
    await inDatabase(tab, async (tx) => {
      const store = tx.objectStore("entries");
      const request = store.get(1);
      await new Promise((resolve) => {
        request.onsuccess = resolve;
      });
      // A GET that has a body.
      store.put({ ...request.result, method: "GET" });
    });
    await resumed(tab, { prepare: "() => {}" });
    await listed(tab, "a rejected");
    assert.deepEqual(texts(hits()), ["b"]);
  });

  test("that is a pause that makes no sense is none", PATIENCE, async () => {
    const tab = await paused("a");
    await inDatabase(tab, (tx) => tx.objectStore("notes").put({ for: "ever" }, "paused"));
    await world.reload(tab);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a"]);
  });
});

describe("a clock that is set", () => {
  const DAY = 86_400_000;
  const sets = () => {
    const { now } = Date;
    globalThis.skew = 0;
    Date.now = () => now() + globalThis.skew;
  };

  for (const [way, days] of [
    ["forward", 30],
    ["back", -30],
  ]) {
    test(`${way} while a page lives makes nothing expire, and no wait last for ever`, PATIENCE, async () => {
      world.server.script("/x", [{ status: 503, retryAfter: 2 }, 200]);
      const tab = await world.open({}, { init: sets });
      await post(tab, "a");
      await post(tab, "b");
      await listed(tab, "a waiting", "b queued");
      await tab.evaluate((skew) => {
        globalThis.skew = skew;
      }, days * DAY);
      await empty(tab);
      assert.deepEqual(texts(hits()), ["a", "a", "b"]);
      assert.deepEqual(await told(tab), ["delivered a", "delivered b"]);
    });
  }

  test("back before a reload makes nothing expire, and no wait longer than it was", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 2 }, 200]);
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a waiting");
    await tab.addInitScript(() => {
      const { now } = Date;
      Date.now = () => now() - 30 * 86_400_000;
    });
    await world.reload(tab);
    await empty(tab);
    assert.deepEqual(await told(tab), ["delivered a"]);
  });
});

test("ten thousand entries are sent in their order, each once, through a reload in the middle", async () => {
  const COUNT = 10_000;
  // The driver hears of each request, which takes longer than all the rest: here the page answers by itself.
  const fetch = `async (request) => {
    (globalThis.sent ??= []).push(await request.text());
    return new Response();
  }`;
  const [options, client] = [{ maxEntries: COUNT }, { ...QUICK, fetch }];
  const tab = await world.open(options, { client });
  await tab.evaluate(async (count) => {
    await outbox.pause();
    const sent = [];
    for (let i = 0; i < count; i++) sent.push(outbox.send("/x", { method: "POST", body: `${i}` }));
    await Promise.all(sent);
  }, COUNT);
  assert.equal(await tab.evaluate(() => fault(() => post("one more"))), "storage-full");
  const first = await tab.evaluate(async () => {
    await outbox.resume();
    while (!(globalThis.sent?.length > 1_000)) await new Promise((resolve) => setTimeout(resolve, 20));
    await outbox.pause();
    await outbox.flush();
    return sent;
  });
  await world.reload(tab, options, client);
  const rest = await tab.evaluate(async () => {
    await outbox.resume();
    while (outbox.getSnapshot().count) await new Promise((resolve) => setTimeout(resolve, 200));
    return sent;
  });
  assert.ok(rest.length > 1_000);
  assert.deepEqual(
    [...first, ...rest],
    Array.from({ length: COUNT }, (_, at) => `${at}`),
  );
});

/** As it is written in a script: JSON has no word for some. */
function toSource(value) {
  if (Array.isArray(value)) return `[${value.map(toSource).join()}]`;
  if (value === undefined || (typeof value === "number" && Number.isNaN(value))) return `${value}`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${toSource(part)}`)}}`;
}
