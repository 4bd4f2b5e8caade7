// The outbox in one tab, in a real browser with its own database, against a real server.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  become,
  empty,
  flush,
  inTabs,
  keys,
  list,
  listed,
  post,
  QUICK,
  sends,
  texts,
  told,
} from "./support/outbox.mjs";
import { load } from "./support/packed.mjs";

const PATIENCE = { timeout: 60_000 };
const world = inTabs();
const until = (condition, what) => world.server.until(condition, what);
const hits = (path = "/x") => world.server.hits(path);
/** Nothing is left of it. */
/** The client gives up what takes too long: the next attempt is another round of the outbox. */
const ROUNDS = { ...QUICK, timeout: 300, retry: { retryOnTimeout: false } };
/** Too large to be sent with `keepalive`, which a browser does not cut off. */
const LARGE = "l".repeat(100_000);

/** Goes through its states from the start to the end, and gives them without what depends on time. */
const statesOf = (tab, init) =>
  tab.evaluate(async (init) => {
    const entry = await outbox.send("/x", { method: "POST", body: "a", ...init });
    const seen = [];
    await new Promise((resolve) => {
      entry.subscribe(({ status, cause }) => {
        const word = cause ? `${status} ${cause}` : status;
        if (seen.at(-1) !== word) seen.push(word);
        if (["delivered", "rejected", "expired", "cancelled"].includes(status)) resolve();
      });
    });
    return seen;
  }, init);

describe("what is sent to an outbox", () => {
  test("arrives in the order in which it was sent, one after another", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 30 });
    const tab = await world.open();
    await tab.evaluate(() => Promise.all(["a", "b", "c", "d", "e"].map((name) => post(name))));
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "b", "c", "d", "e"]);
    assert.ok(hits().every(({ at }, place) => place === 0 || at >= hits()[place - 1].answeredAt));
    assert.deepEqual(
      await told(tab),
      ["a", "b", "c", "d", "e"].map((name) => `delivered ${name}`),
    );
    assert.deepEqual(world.faults, []);
  });

  test("keeps its place though its body takes longer to read than the next one's", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(async () => {
      const slow = new Blob(["slow"]);
      const { arrayBuffer } = Blob.prototype;
      slow.arrayBuffer = () => new Promise((resolve) => setTimeout(resolve, 300)).then(() => arrayBuffer.call(slow));
      await Promise.all([post("slow", { body: slow }), post("quick")]);
    });
    await empty(tab);
    assert.deepEqual(texts(hits()), ["slow", "quick"]);
  });

  test("is queued, sending and delivered, with the answer", PATIENCE, async () => {
    world.server.script("/x", { body: "thanks", delay: 100 });
    const tab = await world.open();
    assert.deepEqual(await statesOf(tab), ["queued", "sending", "delivered"]);
    const [text, same] = await tab.evaluate(async () => {
      const entry = await outbox.send("/x", { method: "POST" });
      const response = await entry.response;
      const { status, response: same } = entry.state;
      const over = status === "delivered" && !outbox.getSnapshot().count && !outbox.get(entry.id);
      return [await response.text(), over && same === response && entry.getSnapshot() === entry.state];
    });
    assert.deepEqual([text, same], ["thanks", true]);
  });

  test("waits with a countdown, a second at a time", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 3 }, 200]);
    const tab = await world.open();
    const seen = await tab.evaluate(async () => {
      const entry = await outbox.send("/x", { method: "POST" });
      const seen = [];
      entry.subscribe((state) => state.status === "waiting" && seen.push([state.remaining, state.retryAt]));
      await entry.response;
      return seen;
    });
    const all = seen.map(([remaining]) => remaining);
    assert.ok(all.length >= 2 && all.every((one, place) => !place || one < all[place - 1]), `${all}`);
    assert.equal(new Set(seen.map(([, retryAt]) => retryAt)).size, 1);
    assert.ok(hits()[1].wall >= hits()[0].told);
  });

  test("is written down once when it waits, and not at each second of its countdown", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 3 }, 200]);
    const tab = await world.open();
    const written = await tab.evaluate(async () => {
      const storage = outboxes.memoryStorage();
      const { patch } = storage;
      const written = [];
      storage.patch = (id, changes) => {
        written.push(Object.keys(changes));
        return patch.call(storage, id, changes);
      };
      const entry = await outboxes.createOutbox(client, { storage }).send("/x", { method: "POST" });
      await entry.response;
      return written;
    });
    assert.deepEqual(written, [["notBefore", "delay", "attempts"]]);
  });

  test("is shown in the outbox's list with what the caller gave, until it is over", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const tab = await world.open();
    const snapshots = await tab.evaluate(async () => {
      const snapshots = [];
      outbox.subscribe((snapshot) => snapshots.push(snapshot));
      const entry = await outbox.send("/x", { method: "PUT", body: "four", meta: { title: "A comment", tags: [1] } });
      await new Promise((resolve) => entry.subscribe(({ status }) => status === "sending" && resolve()));
      const [shown] = outbox.getSnapshot().entries;
      const { id, method, url, queue, size, meta, age, createdAt, state } = shown;
      const first = snapshots[0];
      const again = outbox.getSnapshot();
      const same = again === outbox.getSnapshot() && again.entries[0] === shown;
      const got = outbox.get(id) === entry;
      entry.cancel();
      await entry.response.catch(() => {});
      return {
        first: first.count,
        shown: { method, url, queue, size, meta, status: state.status },
        young: age < 60_000 && Math.abs(Date.now() - createdAt) < 60_000,
        same,
        got,
        after: [outbox.get(id), outbox.getSnapshot().count],
      };
    });
    const { url } = world.server;
    assert.deepEqual(snapshots, {
      first: 0,
      shown: {
        method: "PUT",
        url: `${url}/x`,
        queue: url,
        size: 4,
        meta: { title: "A comment", tags: [1] },
        status: "sending",
      },
      young: true,
      same: true,
      got: true,
      after: [undefined, 0],
    });
  });

  test("gives a copy of what the caller gave, who may change it afterwards", PATIENCE, async () => {
    world.server.script("/x", { echo: true });
    const tab = await world.open();
    const [meta, body] = await tab.evaluate(async () => {
      const meta = { title: "before" };
      const bytes = new TextEncoder().encode("before");
      const sent = outbox.send("/x", { method: "POST", body: bytes, meta });
      meta.title = "after!";
      bytes.set(new TextEncoder().encode("after!"));
      const entry = await sent;
      return [entry.meta, (await (await entry.response).json()).body];
    });
    assert.deepEqual([meta, body], [{ title: "before" }, "before"]);
  });

  for (const bad of ["meta", "body", "url", "scheme", "method", "option"]) {
    test(`is refused at once if its ${bad} cannot be stored`, PATIENCE, async () => {
      const tab = await world.open();
      const thrown = await tab.evaluate((bad) => {
        const inits = {
          meta: { meta: () => {} },
          body: { body: new ReadableStream(), duplex: "half" },
          url: {},
          scheme: {},
          method: { method: "TRACE" },
          option: { retry: 3 },
        };
        const url = { url: "http://[", scheme: "file:///x" }[bad] ?? "/x";
        return fault(() => outbox.send(url, { method: "POST", ...inits[bad] }));
      }, bad);
      const names = {
        meta: /^not-storable$/,
        body: /^not-storable$/,
        scheme: /^not-storable$/,
        option: /^TypeError: steadfetch: retry /,
      };
      assert.match(thrown, names[bad] ?? /^(TypeError|SyntaxError)/);
      assert.equal(await flush(tab), 0);
    });
  }

  test("is a request like any other of `fetch`", PATIENCE, async () => {
    world.server.script("/x", { echo: true });
    const tab = await world.open();
    const bodies = await tab.evaluate(async () => {
      const body = async (...args) => (await (await (await outbox.send(...args)).response).json()).body;
      const request = () => new Request("/x", { method: "POST", body: "of a request" });
      return [
        await body(request()),
        await body(request(), { body: "of the init" }),
        await body(request(), { body: null }),
        await body(new URL("/x", location.href), { method: "PATCH", body: "by an URL" }),
        await body("/x", { method: "DELETE" }),
      ];
    });
    assert.deepEqual(bodies, ["of a request", "of the init", "of a request", "by an URL", ""]);
    assert.deepEqual(
      hits().map(({ method }) => method),
      ["POST", "POST", "POST", "PATCH", "DELETE"],
    );
  });

  test("is what an init says by inheritance, too, as for `fetch`", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(async () => {
      class Init {
        get method() {
          return "POST";
        }
        get body() {
          return "of a class";
        }
      }
      await outbox.send("/x", new Init());
      await outbox.send("/x", Object.create({ method: "PUT", body: "inherited" }));
      await outbox.send("/x", new Request("/x", { method: "DELETE" }));
    });
    await empty(tab);
    assert.deepEqual(
      hits().map(({ method, text }) => `${method} ${text}`),
      ["POST of a class", "PUT inherited", "DELETE "],
    );
  });
});

describe("a body", () => {
  /** Sends one of each kind while the outbox is paused, so that all come back from the disk. */
  async function stored(act) {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(() => outbox.pause());
    await tab.evaluate(act);
    await world.reload(tab);
    await tab.evaluate(() => outbox.resume());
    await empty(tab);
    return hits().map(({ headers, body }) => ({ type: headers["content-type"], body }));
  }

  test("that is text, a form in a URL, bytes or a blob is the same after a reload", PATIENCE, async () => {
    const sent = await stored(async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
      await post("text", { body: "grüße 🎉" });
      await post("params", { body: new URLSearchParams({ a: "1 2", b: "ü" }) });
      await post("buffer", { body: bytes.buffer });
      await post("view", { body: bytes.subarray(10, 20) });
      await post("data view", { body: new DataView(bytes.buffer, 250) });
      await post("blob", { body: new Blob([bytes], { type: "image/png" }) });
      await post("file", { body: new File([bytes], "a.png", { type: "image/png" }) });
      await post("none", { body: undefined });
      await post("json", { body: "{}", headers: { "Content-Type": "application/json" } });
      await post("empty", { body: "" });
    });
    const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, at) => at));
    const text = "text/plain;charset=UTF-8";
    const expected = [
      [text, Buffer.from("grüße 🎉")],
      ["application/x-www-form-urlencoded;charset=UTF-8", Buffer.from("a=1+2&b=%C3%BC")],
      [undefined, bytes],
      [undefined, bytes.subarray(10, 20)],
      [undefined, bytes.subarray(250)],
      ["image/png", bytes],
      ["image/png", bytes],
      [undefined, Buffer.alloc(0)],
      ["application/json", Buffer.from("{}")],
      [text, Buffer.alloc(0)],
    ];
    assert.deepEqual(
      sent.map(({ type, body }) => [type, body]),
      expected,
    );
  });

  test("that is a form has its files after a reload, with their names, types and bytes", PATIENCE, async () => {
    const [{ type, body }] = await stored(async () => {
      const form = new FormData();
      form.append("title", "grüße");
      form.append("title", "twice");
      form.append("file", new File([Uint8Array.from([0, 255, 13, 10, 7])], "a b.bin", { type: "image/png" }));
      form.append("blob", new Blob(["{}"], { type: "application/json" }));
      form.append("nothing", new File([], ""));
      await post("form", { body: form });
    });
    const form = await new Response(body, { headers: { "Content-Type": type } }).formData();
    assert.deepEqual([...form.keys()], ["title", "title", "file", "blob", "nothing"]);
    assert.deepEqual(form.getAll("title"), ["grüße", "twice"]);
    const [file, blob] = [form.get("file"), form.get("blob")];
    assert.deepEqual([file.name, file.type], ["a b.bin", "image/png"]);
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), Buffer.from([0, 255, 13, 10, 7]));
    assert.deepEqual([blob.name, blob.type, await blob.text()], ["blob", "application/json", "{}"]);
  });

  test("of another frame is the same after a reload", PATIENCE, async () => {
    const sent = await stored(async () => {
      const frame = document.body.appendChild(document.createElement("iframe")).contentWindow;
      const form = new frame.FormData();
      form.append("title", "of a frame");
      await post("blob", { body: new frame.Blob(["blob"], { type: "image/png" }) });
      await post("buffer", { body: new frame.TextEncoder().encode("buffer").buffer });
      await post("form", { body: form });
      await outbox.send(new frame.Request(new URL("/x", location.href), { method: "POST", body: "request" }));
    });
    assert.deepEqual(
      [0, 1, 3].map((at) => [sent[at].type, `${sent[at].body}`]),
      [
        ["image/png", "blob"],
        [undefined, "buffer"],
        ["text/plain;charset=UTF-8", "request"],
      ],
    );
    const { type, body } = sent[2];
    const form = await new Response(body, { headers: { "Content-Type": type } }).formData();
    assert.deepEqual([...form], [["title", "of a frame"]]);
  });

  test("of a megabyte is the same after a reload", PATIENCE, async () => {
    const [{ body }] = await stored(async () => {
      const bytes = new Uint8Array(1 << 20).map((_, at) => (at * 7919) >> 3);
      await post("large", { body: bytes });
    });
    const expected = Buffer.from(new Uint8Array(1 << 20).map((_, at) => (at * 7919) >> 3));
    assert.ok(body.equals(expected));
  });

  test("that is too large, or has no room, is refused and says so", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const tab = await world.open({ maxBytes: 10 });
    const thrown = await tab.evaluate(async () => [
      await fault(() => post("a", { body: "12345678901" })),
      await fault(() => post("b", { body: "1234567" })),
      await fault(() => post("c", { body: "1234" })),
      await fault(() => post("d", { body: "123" })),
    ]);
    assert.deepEqual(thrown, ["too-large", undefined, "storage-full", undefined]);
    assert.deepEqual(await told(tab), ["storage-full storage-full"]);
  });

  test("needs none of `maxEntries` once it is delivered, and a dead letter counts", PATIENCE, async () => {
    world.server.script("/x", [200, 422]);
    const tab = await world.open({ maxEntries: 1 });
    await post(tab, "a");
    await empty(tab);
    await post(tab, "b");
    await listed(tab, "b rejected");
    assert.equal(await tab.evaluate(() => fault(() => post("c"))), "storage-full");
    await tab.evaluate(() => entries.b.cancel());
    await listed(tab);
    assert.equal(await tab.evaluate(() => fault(() => post("d"))), undefined);
  });
});

describe("headers", () => {
  test("are kept, but for secrets, of which the console says what to do", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a", { headers: { "X-Kept": "yes", Authorization: "Bearer secret", "Content-Type": "a/b" } });
    await tab.evaluate(() => outbox.resume());
    await empty(tab);
    const { headers } = hits()[0];
    assert.deepEqual([headers["x-kept"], headers.authorization, headers["content-type"]], ["yes", undefined, "a/b"]);
    assert.equal(world.faults.length, 1);
    assert.match(world.faults[0], /stores no Authorization; its option `prepare`/);
  });

  test("with secrets are not on the disk", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const tab = await world.open({ prepare: "({ headers }) => headers.set('Authorization', 'Bearer secret')" });
    await post(tab, "a", { headers: { Authorization: "Bearer secret" } });
    await until(() => hits().length === 1);
    const disk = await tab.evaluate(async () => JSON.stringify(await outboxes.indexedDBStorage().list()));
    assert.match(disk, /"key"/);
    assert.doesNotMatch(disk, /secret/);
    assert.deepEqual(world.faults, []);
  });

  test("with secrets are kept where that is wanted", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open({ storeCredentials: true });
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a", { headers: { Authorization: "Bearer secret" } });
    await world.reload(tab, { storeCredentials: true });
    await tab.evaluate(() => outbox.resume());
    await empty(tab);
    assert.equal(hits()[0].headers.authorization, "Bearer secret");
  });

  test(
    "are added by `prepare` before every attempt, those of the client and those of the outbox",
    PATIENCE,
    async () => {
      world.server.script("/x", [503, 503, 501, 200]);
      const prepare =
        "({ headers }) => headers.set('Authorization', String((globalThis.count = (globalThis.count ?? 0) + 1)))";
      const tab = await world.open({ prepare });
      await post(tab, "a");
      await empty(tab);
      assert.deepEqual(
        hits().map(({ headers }) => headers.authorization),
        ["1", "2", "3", "4"],
      );
      assert.deepEqual(texts(hits()), ["a", "a", "a", "a"]);
      assert.equal(new Set(keys(hits())).size, 1);
    },
  );

  test(
    "may be those of another request that `prepare` returns, and what it throws is one attempt",
    PATIENCE,
    async () => {
      world.server.script("/x", 200);
      const prepare = `async (request) => {
      if (!globalThis.again) { globalThis.again = true; throw new Error("no token yet"); }
      return new Request(request, { headers: { ...Object.fromEntries(request.headers), "X-Token": "here" } });
    }`;
      const tab = await world.open({ prepare });
      await post(tab, "a");
      await empty(tab);
      assert.deepEqual(
        hits().map(({ headers, text }) => `${headers["x-token"]} ${text}`),
        ["here a"],
      );
    },
  );

  test("may be made of the body by `prepare`, before every attempt", PATIENCE, async () => {
    world.server.script("/x", [503, 200]);
    world.server.script("/form", [503, 200]);
    const prepare = `async (request) => {
      const text = await request.text();
      request.headers.set("X-Signed", text.length);
    }`;
    const tab = await world.open({ prepare, queueKey: "({ url }) => url" });
    await post(tab, "abc");
    await tab.evaluate(async () => {
      const body = new FormData();
      body.append("field", "value");
      await outbox.send("/form", { method: "POST", body });
    });
    await empty(tab);
    assert.deepEqual(
      hits().map(({ text, headers }) => [text, headers["x-signed"]]),
      [
        ["abc", "3"],
        ["abc", "3"],
      ],
    );
    for (const { text, headers } of hits("/form")) {
      const [, boundary] = headers["content-type"].match(/^multipart\/form-data; boundary=(.+)$/);
      assert.ok(text.startsWith(`--${boundary}`) && text.includes("value"), text);
      assert.ok(headers["x-signed"] > 0);
    }
    assert.equal(new Set(keys(hits())).size, 1);
    assert.equal(new Set(keys(hits("/form"))).size, 1);
  });

  test("that `prepare` cannot add are told as what keeps an entry", PATIENCE, async () => {
    const results = {
      "() => { throw new Error('log in first') }": "Error: log in first",
      "() => ({ headers: {} })": "TypeError: steadfetch: prepare must return a Request, or nothing",
    };
    for (const [prepare, error] of Object.entries(results)) {
      const tab = await world.open({ name: error, prepare });
      await post(tab, "a");
      await listed(tab, "a waiting");
      const told = await tab.evaluate(() => {
        const { failure } = outbox.getSnapshot().entries[0].state;
        return [failure.status, String(failure.error)];
      });
      assert.deepEqual(told, [null, error]);
      await tab.close();
    }
    assert.equal(hits().length, 0);
  });

  for (const made of ["true", "'/other'", "({})", "new Response('other')"]) {
    test(
      `are not sent where \`prepare\` returns what is no request (${made}), which is a failed attempt`,
      PATIENCE,
      async () => {
        world.server.script("/x", 200);
        world.server.script("/other", 200);
        world.server.script("/true", 200);
        const prepare = `() => { if (!globalThis.again) { globalThis.again = true; return ${made}; } }`;
        const tab = await world.open({ prepare });
        await post(tab, "a");
        await empty(tab);
        assert.deepEqual(texts(hits()), ["a"]);
        assert.deepEqual([hits("/other"), hits("/true")], [[], []]);
      },
    );
  }
});

describe("the key of an entry", () => {
  test("is the same on every attempt and after a reload, and another one's is another", PATIENCE, async () => {
    world.server.script("/x", [503, 503, { status: 501 }, "refuse", "stall", 409, 200]);
    const tab = await world.open();
    await post(tab, "a");
    await post(tab, "b");
    await until(() => hits().length === 5, "the attempt that stalls");
    await world.reload(tab);
    await empty(tab);
    const of = (text) => new Set(keys(hits().filter((hit) => hit.text === text)));
    assert.deepEqual(texts(hits()), ["a", "a", "a", "a", "a", "a", "a", "b"]);
    assert.equal(of("a").size, 1);
    assert.equal(of("b").size, 1);
    assert.notDeepEqual(of("a"), of("b"));
  });

  test("is the caller's own, where that gives one", PATIENCE, async () => {
    world.server.script("/x", [503, 200]);
    const tab = await world.open();
    await tab.evaluate(async () => {
      await post("a", { headers: { "Idempotency-Key": '"mine"' } });
      globalThis.key = entries.a.key;
    });
    await empty(tab);
    assert.equal(await tab.evaluate(() => key), '"mine"');
    assert.deepEqual(keys(hits()), ['"mine"', '"mine"']);
  });

  test("is the caller's own also in a request that `prepare` has made without it", PATIENCE, async () => {
    world.server.script("/x", [503, 501, 200]);
    const prepare = "(request) => new Request(request, { headers: { Authorization: 'Bearer token' } })";
    const tab = await world.open({ prepare }, { client: { ...QUICK, idempotencyKey: "auto" } });
    await post(tab, "a", { headers: { "Idempotency-Key": "mine" } });
    await empty(tab);
    assert.deepEqual(keys(hits()), ["mine", "mine", "mine"]);
    assert.ok(hits().every(({ headers }) => headers.authorization === "Bearer token"));
  });

  test("is one of ours where the caller's is empty", PATIENCE, async () => {
    world.server.script("/x", [503, 200]);
    const tab = await world.open();
    const key = await tab.evaluate(async () => {
      await post("a", { headers: { "Idempotency-Key": "" } });
      return entries.a.key;
    });
    await empty(tab);
    assert.deepEqual(keys(hits()), [key, key]);
  });
});

describe("cancel()", () => {
  test("takes back what is queued, and the others go on", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 300 });
    const tab = await world.open();
    const ends = await tab.evaluate(async () => {
      await Promise.all(["a", "b", "c"].map((name) => post(name)));
      const { b } = entries;
      const done = b.cancel();
      const code = await fault(() => b.response);
      return [done, code, b.state.status, b.cancel(), b.retryNow()];
    });
    assert.deepEqual(ends, [true, "cancelled", "cancelled", false, false]);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "c"]);
    assert.deepEqual(await told(tab), ["delivered a", "delivered c"]);
  });

  test("gives up what is being sent, and the next one is sent", PATIENCE, async () => {
    world.server.script("/x", ["stall", 200]);
    const tab = await world.open();
    await post(tab, "a", { body: LARGE });
    await post(tab, "b");
    await until(() => hits().length === 1);
    await tab.evaluate(() => entries.a.cancel());
    await empty(tab);
    await until(() => hits()[0].aborted);
    assert.deepEqual(texts(hits()), [LARGE, "b"]);
  });

  test(
    "gives up what is being sent, though the store still looks for one that was taken back before",
    PATIENCE,
    async () => {
      world.server.script("/x", "stall");
      const tab = await world.open();
      await tab.evaluate(async (body) => {
        const storage = outboxes.memoryStorage();
        const { head } = storage;
        let found;
        let times = 0;
        storage.head = async (...args) => {
          const answer = await head.apply(storage, args);
          if (++times === 1) await new Promise((resolve) => (found = resolve));
          return answer;
        };
        globalThis.outbox = outboxes.createOutbox(client, { storage });
        await post("a");
        while (!found) await new Promise((resolve) => setTimeout(resolve, 10));
        entries.a.cancel();
        await entries.a.response.catch(() => {});
        await post("b", { body });
        await new Promise((resolve) => entries.b.subscribe(({ status }) => status === "sending" && resolve()));
        found();
      }, LARGE);
      await until(() => hits().length === 1);
      await tab.evaluate(() => entries.b.cancel());
      await until(() => hits()[0].aborted);
    },
  );

  test("takes back what waits, what is a dead letter, and what is paused, for good", PATIENCE, async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    world.server.script("/dead", 404);
    const tab = await world.open();
    await post(tab, "waits");
    await post(tab, "dead", { path: "/dead" });
    await become(tab, () => list()[0] === "waits waiting");
    await tab.evaluate(() => entries.waits.cancel());
    await listed(tab, "dead rejected");
    await tab.evaluate(async () => {
      entries.dead.cancel();
      await outbox.pause();
      await post("paused");
      entries.paused.cancel();
    });
    await listed(tab);
    await world.reload(tab);
    await tab.evaluate(() => outbox.resume());
    assert.equal(await flush(tab), 0);
    assert.deepEqual(await list(tab), []);
    assert.equal(hits().length, 1);
  });

  test("is what the caller's signal does, before it is stored and after", PATIENCE, async () => {
    world.server.script("/x", "stall");
    const tab = await world.open();
    const ends = await tab.evaluate(async () => {
      const before = AbortSignal.abort(new Error("too late"));
      const [during, after] = [new AbortController(), new AbortController()];
      const thrown = [await fault(() => post("before", { signal: before }))];
      const sent = post("during", { signal: during.signal });
      during.abort(new Error("never mind"));
      thrown.push(await fault(() => sent));
      await post("after", { signal: after.signal });
      after.abort();
      thrown.push(await fault(() => entries.after.response));
      return thrown;
    });
    assert.deepEqual(ends, ["Error: too late", "Error: never mind", "cancelled"]);
    await listed(tab);
  });
});

describe("retryNow() and flush()", () => {
  test("end a wait, and one that a reload has not ended", PATIENCE, async () => {
    world.server.script("/x", { status: 503, retryAfter: 600 });
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a waiting");
    assert.equal(await tab.evaluate(() => entries.a.retryNow()), true);
    await until(() => hits().length === 2);
    await listed(tab, "a waiting");
    await world.reload(tab);
    await sends(tab);
    await listed(tab, "a waiting");
    assert.equal(hits().length, 2, "the wait goes on after a reload");
    assert.equal(await tab.evaluate(() => outbox.getSnapshot().entries[0].retryNow()), true);
    await until(() => hits().length === 3);
    await listed(tab, "a waiting");
    world.server.script("/x", 200);
    assert.equal(await flush(tab), 0);
    assert.equal(hits().length, 4);
  });

  test("end a wait between two rounds of the outbox", PATIENCE, async () => {
    world.server.script("/x", ["stall", "stall", "stall", 200]);
    const tab = await world.open({}, { client: ROUNDS });
    await post(tab, "a");
    for (let round = 1; round <= 3; round++) {
      await until(() => hits().length === round);
      await listed(tab, "a waiting");
      assert.equal(await tab.evaluate(() => entries.a.retryNow()), true);
    }
    await empty(tab);
    assert.equal(new Set(keys(hits())).size, 1);
  });

  test("that is asked for before a tab is the one that sends still ends the waits", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 600 }, 200]);
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a waiting");
    await tab.reload();
    const left = await tab.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      const { createOutbox } = await import("steadfetch/outbox");
      return createOutbox(createFetch()).flush();
    });
    assert.equal(left, 0);
    assert.equal(hits().length, 2);
  });

  test("tells how many are pending, once nothing goes on without time", PATIENCE, async () => {
    world.server.script("/x", [
      { status: 200, delay: 200 },
      { status: 503, retryAfter: 600 },
    ]);
    const tab = await world.open();
    const left = await tab.evaluate(async () => {
      await Promise.all(["a", "b", "c"].map((name) => post(name)));
      return outbox.flush();
    });
    assert.equal(left, 2);
    assert.deepEqual(await list(tab), ["b waiting", "c queued"]);
  });

  test("takes a dead letter up again, which is a new start for its answer", PATIENCE, async () => {
    world.server.script("/x", [422, { body: "now it fits" }]);
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a rejected");
    const seen = await tab.evaluate(async () => {
      const { a } = entries;
      const first = await a.response;
      const done = a.retryNow();
      await new Promise((resolve) => a.subscribe(({ status }) => status === "delivered" && resolve()));
      return [first.status, done, await a.state.response.text()];
    });
    assert.deepEqual(seen, [422, true, "now it fits"]);
    assert.equal(new Set(keys(hits())).size, 1);
  });
});

describe("pause()", () => {
  test("holds across a reload until resume(), and what is sent meanwhile is stored", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a");
    await world.reload(tab);
    await listed(tab, "a queued");
    await sends(tab);
    await post(tab, "b");
    assert.deepEqual(await tab.evaluate(() => [outbox.getSnapshot().paused, entries.b.retryNow()]), [true, false]);
    assert.equal(await flush(tab), 2);
    assert.equal(hits().length, 0);
    await tab.evaluate(() => outbox.resume());
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "b"]);
  });

  test("lets arrive what is on its way, and takes back what waits", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 500 });
    world.server.script("/waits", { status: 503, retryAfter: 1 });
    const tab = await world.open({ queueKey: "({ url }) => new URL(url).pathname" });
    await post(tab, "a");
    await post(tab, "w", { path: "/waits" });
    await listed(tab, "a sending", "w waiting");
    await tab.evaluate(() => outbox.pause());
    await become(tab, () => told.includes("delivered a"));
    await tab.waitForTimeout(1_500);
    assert.equal(hits("/waits").length, 1);
  });
});

describe("an answer", () => {
  test("of 4xx makes a dead letter with its response, and the queue goes on", PATIENCE, async () => {
    world.server.script("/x", [{ status: 422, body: '{"why":"no title"}', headers: { "X-Why": "title" } }, 200]);
    const tab = await world.open();
    const seen = await tab.evaluate(async () => {
      await post("a");
      await post("b");
      const response = await entries.a.response;
      const { status } = entries.a.state;
      return [response.status, response.headers.get("X-Why"), await response.clone().json(), status];
    });
    assert.deepEqual(seen, [422, "title", { why: "no title" }, "rejected"]);
    await listed(tab, "a rejected");
    assert.deepEqual(await told(tab), ["rejected a", "delivered b"]);
    assert.deepEqual(texts(hits()), ["a", "b"]);
  });

  test("of a dead letter is there after a reload, and it is not sent by itself", PATIENCE, async () => {
    world.server.script("/x", [{ status: 404, body: "not here", headers: { "X-Why": "gone" } }]);
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a rejected");
    await world.reload(tab);
    await listed(tab, "a rejected");
    assert.equal(await flush(tab), 0);
    const seen = await tab.evaluate(async () => {
      const [{ id, state, attempts = state.attempts }] = outbox.getSnapshot().rejected;
      const response = await outbox.get(id).response;
      return [response.status, response.headers.get("X-Why"), await response.text(), attempts];
    });
    assert.deepEqual(seen, [404, "gone", "not here", 1]);
    assert.equal(hits().length, 1);
  });

  test("that is refused stops its queue where that is wanted, until somebody decides", PATIENCE, async () => {
    world.server.script("/x", [422, 200]);
    world.server.script("/y", 200);
    const options = { onRejected: "stop", queueKey: "({ url }) => new URL(url).pathname" };
    const tab = await world.open(options);
    await post(tab, "a");
    await post(tab, "b");
    await post(tab, "other", { path: "/y" });
    await listed(tab, "b queued", "a rejected");
    await world.reload(tab, options);
    await listed(tab, "b queued", "a rejected");
    assert.equal(await flush(tab), 1);
    assert.equal(hits().length, 1);
    assert.equal(hits("/y").length, 1);
    await tab.evaluate(() => outbox.getSnapshot().rejected[0].cancel());
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "b"]);
  });

  test("that is refused is taken up again before what comes after it", PATIENCE, async () => {
    world.server.script("/x", [422, 200]);
    const tab = await world.open({ onRejected: "stop" });
    await post(tab, "a");
    await post(tab, "b");
    await listed(tab, "b queued", "a rejected");
    await tab.evaluate(() => entries.a.retryNow());
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "a", "b"]);
  });

  const BY_PATH = { queueKey: "({ url }) => new URL(url).pathname" };
  /** One entry for each status, all at the same time. */
  async function oneEach(statuses, step) {
    for (const status of statuses) world.server.script(`/${status}`, [step(status), 200]);
    const tab = await world.open(BY_PATH);
    await tab.evaluate((all) => Promise.all(all.map((each) => post(`${each}`, { path: `/${each}` }))), statuses);
    return tab;
  }

  test("of the moment with Retry-After holds its entry back, after a reload too", PATIENCE, async () => {
    const statuses = [408, 409, 425, 429, 500, 501, 503];
    const tab = await oneEach(statuses, (status) => ({ status, retryAfter: 4 }));
    await listed(tab, ...statuses.map((status) => `${status} waiting`));
    const causes = await tab.evaluate(() => outbox.getSnapshot().entries.map(({ state }) => state.cause));
    assert.deepEqual(new Set(causes), new Set(["retry-after"]));
    await world.reload(tab, BY_PATH);
    await listed(tab, ...statuses.map((status) => `${status} waiting`));
    await empty(tab);
    for (const status of statuses) {
      const [first, second, third] = hits(`/${status}`);
      assert.ok(second.wall >= first.told && !third, `${status}: ${second.wall - first.told}`);
    }
  });

  test("of the moment is asked for again, be it one that no client repeats", PATIENCE, async () => {
    const statuses = [408, 409, 425, 429, 500, 501, 502, 503, 505, 507, 511];
    const tab = await oneEach(statuses, (status) => status);
    await empty(tab);
    for (const status of statuses) assert.deepEqual(texts(hits(`/${status}`)), [`${status}`, `${status}`]);
    assert.ok((await told(tab)).every((line) => line.startsWith("delivered ")));
  });

  test("that speaks of the request makes a dead letter", PATIENCE, async () => {
    const statuses = [400, 401, 403, 404, 410, 413, 422];
    const tab = await oneEach(statuses, (status) => status);
    await listed(tab, ...statuses.map((status) => `${status} rejected`));
    for (const status of statuses) assert.equal(hits(`/${status}`).length, 1);
  });

  test("whose refusal never ends holds up nobody", PATIENCE, async () => {
    world.server.script("/x", [{ fault: "stall-body", status: 422 }, 200]);
    const tab = await world.open();
    await post(tab, "a");
    await post(tab, "b");
    await listed(tab, "a rejected");
    assert.deepEqual(texts(hits()), ["a", "b"]);
    const stored = await tab.evaluate(async () => {
      const { records } = await outboxes.indexedDBStorage().list();
      return records.map(({ dead, answer }) => [dead, answer.status]);
    });
    assert.deepEqual(stored, [[1, 422]]);
  });

  test("that is long is kept up to 64 KiB, and read whole by whoever asked for it before", PATIENCE, async () => {
    world.server.script("/x", { status: 400, body: "e".repeat(200_000) });
    const tab = await world.open();
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a");
    const read = tab.evaluate(async () => (await (await entries.a.response).text()).length);
    await tab.evaluate(() => outbox.resume());
    assert.equal(await read, 200_000);
    await listed(tab, "a rejected");
    await world.reload(tab);
    await listed(tab, "a rejected");
    const kept = await tab.evaluate(async () => (await outbox.getSnapshot().rejected[0].state.response.text()).length);
    assert.equal(kept, 65_536);
  });

  for (const status of [200, 422]) {
    test(`(${status}) can be read by whoever asks for it while its body comes`, PATIENCE, async () => {
      world.server.script("/x", { status, body: "0123456789".repeat(4), drip: { bytes: 10, every: 500 } });
      const tab = await world.open();
      await post(tab, "a");
      await until(() => hits()[0]?.answeredAt);
      await tab.waitForTimeout(500);
      const text = await tab.evaluate(async () => (await entries.a.response).text());
      assert.equal(text, "0123456789".repeat(4));
    });
  }

  test("that may not be looked at is there for whoever asks for it later", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await post(tab, "a", { path: `${world.server.origin2}/x`, mode: "no-cors" });
    await empty(tab);
    assert.equal(await tab.evaluate(async () => (await entries.a.response).type), "opaque");
  });

  /** An outbox whose client asks nobody again, so that each answer comes back to the outbox. */
  async function onceEach(options) {
    const tab = await world.open();
    await tab.evaluate(async (options) => {
      const { createFetch } = await import("steadfetch");
      const client = createFetch({ retry: { shouldRetry: () => false }, breaker: false });
      globalThis.outbox = outboxes.createOutbox(client, { ...options, name: "each" });
      await post("a");
    }, options);
    return tab;
  }

  test("of the moment is none for whoever asks when told that it waits", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, delay: 300 }, 200]);
    const tab = await onceEach({});
    const status = await tab.evaluate(async () => {
      const { a } = entries;
      const asked = new Promise((resolve) => {
        a.subscribe((state) => state.status === "waiting" && resolve(a.response));
      });
      return (await asked).status;
    });
    assert.equal(status, 200);
  });

  test("of the moment that comes after maxAge is not taken for the end", PATIENCE, async () => {
    world.server.script("/x", { status: 503, delay: 2_000 });
    const tab = await onceEach({ maxAge: 1_000 });
    assert.equal(await tab.evaluate(() => fault(() => entries.a.response)), "expired");
  });
});

describe("where there is no answer", () => {
  for (const kind of ["refuse", "hang-up", "reset-headers"]) {
    test(`since the connection fails (${kind}) it is sent again`, PATIENCE, async () => {
      world.server.script("/x", [kind, kind, 200]);
      const tab = await world.open();
      await post(tab, "a");
      await post(tab, "b");
      await empty(tab);
      assert.deepEqual(texts(hits()), ["a", "a", "a", "b"]);
    });
  }

  test("since nobody listens it waits, and what goes elsewhere does not", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open({}, { client: { ...QUICK, retry: { delay: 600_000, backoffLimit: 600_000 } } });
    await post(tab, "nobody", { path: `${world.server.closedUrl}/x` });
    await post(tab, "here");
    await become(tab, () => told.includes("delivered here") && list()[0] === "nobody waiting");
    assert.equal(await tab.evaluate(() => entries.nobody.state.cause), "backoff");
  });

  test("since a circuit is open it waits for that, and is sent when it closes", PATIENCE, async () => {
    world.server.script("/x", [503, 503, 200]);
    const breaker = { consecutiveFailures: 2, minimumCalls: 1_000, halfOpenAfter: 1_000 };
    const tab = await world.open({}, { client: { ...QUICK, breaker } });
    await post(tab, "a");
    await become(tab, () => entries.a.state.cause === "circuit-open");
    assert.equal(hits().length, 2);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "a", "a"]);
  });

  test("since the browser is offline it is sent once that is online, in order", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await world.context.setOffline(true);
    await post(tab, "a");
    await post(tab, "b");
    await listed(tab, "a offline", "b queued");
    assert.equal(hits().length, 0);
    await world.context.setOffline(false);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "b"]);
  });

  test("since the browser went offline during a wait it is sent once that is online", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 1 }, 200]);
    const tab = await world.open();
    await post(tab, "a");
    await listed(tab, "a waiting");
    await world.context.setOffline(true);
    await listed(tab, "a offline");
    await world.context.setOffline(false);
    await empty(tab);
    assert.deepEqual(texts(hits()), ["a", "a"]);
  });
});

describe("queueKey", () => {
  test("makes queues of which none waits for another", PATIENCE, async () => {
    world.server.script("/stuck", { status: 503, retryAfter: 600 });
    world.server.script("/free", 200);
    const tab = await world.open({ queueKey: "({ url }) => new URL(url).pathname" });
    await post(tab, "s1", { path: "/stuck" });
    await post(tab, "s2", { path: "/stuck" });
    await post(tab, "f1", { path: "/free" });
    await post(tab, "f2", { path: "/free" });
    await listed(tab, "s1 waiting", "s2 queued");
    assert.deepEqual(texts(hits("/stuck")), ["s1"]);
    assert.deepEqual(texts(hits("/free")), ["f1", "f2"]);
  });

  test("is the origin where none is given", PATIENCE, async () => {
    world.server.script("/stuck", { status: 503, retryAfter: 600 });
    world.server.script("/free", 200);
    const tab = await world.open();
    await post(tab, "s", { path: "/stuck" });
    await post(tab, "f", { path: "/free" });
    await post(tab, "elsewhere", { path: `${world.server.origin2}/free` });
    await become(tab, () => told.includes("delivered elsewhere"));
    assert.deepEqual(await list(tab), ["s waiting", "f queued"]);
  });

  test("that throws or returns no text refuses the entry alone", PATIENCE, async () => {
    world.server.script("/x", 200);
    const queueKey =
      "({ url }) => { if (url.endsWith('throws')) throw new Error('mine'); return url.endsWith('7') ? 7 : 'q'; }";
    const tab = await world.open({ queueKey });
    const thrown = await tab.evaluate(async () => [
      await fault(() => post("a", { path: "/throws" })),
      await fault(() => post("b", { path: "/7" })),
      await fault(() => post("c")),
    ]);
    assert.deepEqual(thrown, ["Error: mine", "TypeError: steadfetch: queueKey must return a string", undefined]);
    await empty(tab);
  });
});

describe("age", () => {
  test("over maxAge ends an entry that waits, and the next one is sent", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 600 }, 200]);
    const tab = await world.open({ maxAge: 2_000 });
    await post(tab, "old");
    await become(tab, () => list()[0] === "old waiting");
    const code = await tab.evaluate(() => fault(() => entries.old.response));
    assert.equal(code, "expired");
    assert.equal(await tab.evaluate(() => entries.old.state.status), "expired");
    await post(tab, "young");
    await become(tab, () => told.includes("delivered young"));
    assert.deepEqual(await told(tab), ["expired old", "delivered young"]);
  });

  test("goes on while no page is open, and ends dead letters too", PATIENCE, async () => {
    world.server.script("/x", [422, { status: 503, retryAfter: 600 }]);
    const tab = await world.open();
    await post(tab, "dead");
    await post(tab, "waits");
    await listed(tab, "waits waiting", "dead rejected");
    await tab.waitForTimeout(300);
    await world.reload(tab, { maxAge: 300 });
    await become(tab, () => told.length === 2);
    assert.deepEqual((await told(tab)).sort(), ["expired dead", "expired waits"]);
    await listed(tab);
    assert.equal(hits().length, 2);
  });
});

describe("an outbox", () => {
  test("refuses what makes no sense and names it", PATIENCE, async () => {
    const tab = await world.open();
    const thrown = await tab.evaluate(async () => {
      const bad = [
        null,
        { name: "" },
        { name: 7 },
        { maxAge: 0 },
        { maxAge: "1" },
        { maxEntries: -1 },
        { maxEntries: 0.5 },
        { maxBytes: Number.NaN },
        { queueKey: "origin" },
        { onRejected: "halt" },
        { prepare: {} },
        { storeCredentials: "yes" },
        { storage: {} },
        { onStorageDenied: true },
        { maxage: 1 },
      ];
      const { send } = outbox;
      const thrown = [];
      for (const options of bad) thrown.push(await fault(() => outboxes.createOutbox(client, options)));
      thrown.push(await fault(() => outboxes.createOutbox({})));
      thrown.push(await fault(() => send()));
      return thrown;
    });
    assert.deepEqual(thrown, [
      "TypeError: steadfetch: options must be an object",
      "TypeError: steadfetch: name must be a string that is not empty",
      "TypeError: steadfetch: name must be a string that is not empty",
      "RangeError: steadfetch: maxAge must be a number above 0",
      "TypeError: steadfetch: maxAge must be a number above 0",
      "RangeError: steadfetch: maxEntries must be a number of at least 1",
      "RangeError: steadfetch: maxEntries must be a number of at least 1",
      "RangeError: steadfetch: maxBytes must be a number of at least 1",
      "TypeError: steadfetch: queueKey must be a function",
      'RangeError: steadfetch: onRejected must be "continue" or "stop"',
      "TypeError: steadfetch: prepare must be a function",
      "TypeError: steadfetch: storeCredentials must be a boolean",
      "TypeError: steadfetch: storage.add must be a function",
      'TypeError: steadfetch: onStorageDenied must be "reject" or "memory"',
      "TypeError: steadfetch: an outbox has no option maxage",
      "TypeError: steadfetch: an outbox needs a client of createFetch()",
      "TypeError: steadfetch: send() needs a request",
    ]);
    assert.deepEqual(await list(tab), []);
  });

  test("of another name has other entries", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open({ name: "one" });
    await tab.evaluate(() => outbox.pause());
    await post(tab, "a");
    const other = await tab.evaluate(async () => {
      globalThis.other = outboxes.createOutbox(client, { name: "two" });
      return [await globalThis.other.flush(), globalThis.other.getSnapshot().paused];
    });
    assert.deepEqual(other, [0, false]);
    assert.deepEqual(await list(tab), ["a queued"]);
  });

  test("that is disposed of sends no more and refuses, and the next one has its entries", PATIENCE, async () => {
    world.server.script("/x", ["stall", 200]);
    const tab = await world.open();
    await post(tab, "a", { body: LARGE });
    await until(() => hits().length === 1);
    const thrown = await tab.evaluate(async () => {
      outbox.dispose();
      outbox[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
      return [
        await fault(() => post("b")),
        await fault(() => outbox.pause()),
        entries.a.cancel(),
        await outbox.flush(),
      ];
    });
    assert.deepEqual(thrown, ["disposed", "disposed", false, 1]);
    await until(() => hits()[0].aborted);
    await world.open({}, { page: tab });
    await become(tab, () => told.includes("delivered a"));
    assert.deepEqual(texts(hits()), [LARGE, LARGE]);
  });

  test("that is disposed of leaves nobody waiting for an answer, and keeps those it has", PATIENCE, async () => {
    world.server.script("/x", [422, "stall"]);
    const tab = await world.open();
    await post(tab, "refused");
    await listed(tab, "refused rejected");
    const codes = await tab.evaluate(async () => {
      await post("a");
      const asked = fault(() => entries.a.response);
      await post("b");
      const sent = outbox.send("/x", { method: "POST" });
      await new Promise((resolve) => setTimeout(resolve));
      outbox.dispose();
      const late = fault(async () => (await sent).response);
      const { status } = await entries.refused.response;
      return [await asked, await fault(() => entries.b.response), await late, status];
    });
    assert.deepEqual(codes, ["disposed", "disposed", "disposed", 422]);
  });

  test("that is disposed of at once holds no channel", PATIENCE, async () => {
    const tab = await world.open();
    const open = await tab.evaluate(async () => {
      let open = 0;
      globalThis.BroadcastChannel = class extends BroadcastChannel {
        constructor(name) {
          super(name);
          open++;
        }
        close() {
          super.close();
          open--;
        }
      };
      const boxes = [1, 2].map(() => outboxes.createOutbox(client));
      boxes[0].dispose();
      await boxes[1].quarantined();
      return open;
    });
    assert.equal(open, 1);
  });

  test("tells what a listener throws to the page and goes on", PATIENCE, async () => {
    world.server.script("/x", 200);
    const tab = await world.open();
    await tab.evaluate(async () => {
      outbox.subscribe(() => {
        throw new Error("of the list");
      });
      outbox.addEventListener("delivered", () => {
        throw new Error("of the event");
      });
      await post("a");
      entries.a.subscribe(() => {
        throw new Error("of the entry");
      });
    });
    await empty(tab);
    await until(() => world.faults.length >= 3);
    for (const who of ["list", "event", "entry"]) {
      assert.ok(
        world.faults.some((fault) => fault.includes(`of the ${who}`)),
        who,
      );
    }
  });

  test("whose client is disposed of leaves its entries to another page", PATIENCE, async () => {
    world.server.script("/x", [{ status: 503, retryAfter: 1 }, 503, 200]);
    const tab = await world.open();
    const next = await world.open();
    await post(tab, "a");
    await post(tab, "b");
    await listed(tab, "a waiting", "b queued");
    await tab.evaluate(() => client.dispose());
    await empty(next);
    assert.deepEqual(texts(hits()), ["a", "a", "a", "b"]);
    assert.equal(new Set(keys(hits())).size, 2);
    assert.deepEqual(await told(next), ["delivered a", "delivered b"]);
    assert.equal(await tab.evaluate(() => fault(() => outbox.send("/x", { method: "POST" }))), "disposed");
  });

  test("in memory is sent and listed alike, is gone with its page, and says so", PATIENCE, async () => {
    world.server.script("/x", [503, 422, 200]);
    const tab = await world.open();
    const seen = await tab.evaluate(async () => {
      const storage = outboxes.memoryStorage();
      globalThis.outbox = outboxes.createOutbox(client, { storage });
      await post("a");
      await post("b");
      const statuses = [(await entries.a.response).status, (await entries.b.response).status];
      return [statuses, outbox.getSnapshot().durable, await outbox.quarantined()];
    });
    assert.deepEqual(seen, [[422, 200], false, []]);
    assert.deepEqual(await list(tab), ["a rejected"]);
    await world.reload(tab);
    assert.deepEqual(await list(tab), []);
  });

  test("in memory has one sender among those that share it", PATIENCE, async () => {
    world.server.script("/x", { status: 200, delay: 50 });
    const tab = await world.open();
    await tab.evaluate(async () => {
      const storage = outboxes.memoryStorage();
      const [one, two] = [1, 2].map(() => outboxes.createOutbox(client, { storage }));
      for (let i = 0; i < 5; i++) await (i % 2 ? one : two).send("/x", { method: "POST", body: `${i}` });
      globalThis.outbox = one;
      globalThis.both = [one, two];
    });
    await become(tab, () => both.every((outbox) => outbox.getSnapshot().count === 0));
    assert.deepEqual(texts(hits()), ["0", "1", "2", "3", "4"]);
  });

  test("on a server refuses where there is no database, and sends from memory", PATIENCE, async () => {
    const { createFetch } = await load();
    const { createOutbox, memoryStorage } = await load("outbox");
    world.server.script("/x", [503, 200]);
    const client = createFetch(QUICK);
    const denied = createOutbox(client);
    await assert.rejects(denied.send(`${world.server.url}/x`, { method: "POST" }), { code: "storage-denied" });
    assert.deepEqual(denied.getSnapshot().entries, []);
    const outbox = createOutbox(client, { storage: memoryStorage() });
    const entry = await outbox.send(`${world.server.url}/x`, { method: "POST", body: "a" });
    assert.equal((await entry.response).status, 200);
    assert.deepEqual(texts(hits()), ["a", "a"]);
    outbox.dispose();
    denied.dispose();
  });
});

test("what a subscriber sees of an entry that is answered for the moment, and then refused", PATIENCE, async () => {
  world.server.script("/x", [503, { status: 501, delay: 50 }, 422]);
  const tab = await world.open();
  assert.deepEqual(await statesOf(tab), [
    "queued",
    "sending",
    "waiting backoff",
    "sending",
    "waiting backoff",
    "sending",
    "rejected",
  ]);
});
