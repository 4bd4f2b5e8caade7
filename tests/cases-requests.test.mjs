// What is sent, what is retried, and what comes out.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { createFetch } from "../pkg/dist/index.js";
import { answer, B0, collect, D0, fed, over, scenario, URL_ } from "./support/cases.mjs";
import { KEY, rejected, resolved } from "./support/cases-shared.mjs";

const NO_RESPONSE = "steadfetch: fetch returned no Response";

describe("what is retried, and what is sent", () => {
  scenario("B039 a Request with a body that is always refused: the last answer", async (page) => {
    page.script(429);
    const seen = page.see(createFetch(D0)(new Request(URL_, { method: "PUT", body: "b" })));
    await page.to(1_000);
    resolved(seen, 700, 429);
    assert.deepEqual(await Promise.all(page.calls.map(({ request }) => request.text())), ["b", "b", "b", "b"]);
  });

  scenario("B039 a Request with a body that never arrives: the last error", async (page) => {
    const errors = [1, 2, 3, 4].map((n) => new TypeError(`E${n}`));
    page.script(...errors);
    const seen = page.see(createFetch(D0)(new Request(URL_, { method: "PUT", body: "b" })));
    await page.to(1_000);
    rejected(seen, 700, errors[3]);
    assert.equal(page.calls.length, 4);
  });

  scenario("B040 a POST is retried where methods and statuses allow it", async (page) => {
    page.script(401, 200);
    const client = createFetch(over(D0, { retry: { methods: ["POST"], statusCodes: [401] } }));
    const seen = page.see(client(URL_, { method: "POST", body: '{"a":1}' }));
    await page.to(1_000);
    resolved(seen, 100, 200);
    assert.deepEqual(await Promise.all(page.calls.map(({ request }) => request.text())), ['{"a":1}', '{"a":1}']);
  });

  for (const [what, wrap] of [
    ["at once", (client) => (input, init) => client(input, init)],
    ["by another Request", (client) => (input, init) => client(new Request(input, init))],
    ["by its address, before it waits", (client) => async (input, init) => client(input.url ?? input, init)],
    ["later, with an init of its own", (client) => async (input, init) => client(input, { ...init, cache: "default" })],
  ]) {
    scenario(`a page's own fetch that calls the client ${what} is no loop`, async (page) => {
      page.script(503, 200);
      const client = createFetch(D0);
      const { fetch } = globalThis;
      globalThis.fetch = wrap(client);
      try {
        const seen = page.see(globalThis.fetch(URL_));
        await page.to(1_000);
        resolved(seen, 100, 200);
        assert.equal(page.calls.length, 2);
      } finally {
        globalThis.fetch = fetch;
      }
    });
  }

  scenario("a body that changes while the call waits for the network is sent as it was given", async (page) => {
    page.online = false;
    page.script(503, 200);
    const body = new URLSearchParams({ a: "1" });
    const seen = page.see(createFetch(D0)(URL_, { method: "PUT", body }));
    body.set("a", "2");
    page.online = true;
    page.window.dispatchEvent(new Event("online"));
    await page.to(10_000);
    assert.equal(seen.value?.status, 200);
    assert.deepEqual(await Promise.all(page.calls.map(({ request }) => request.text())), ["a=1", "a=1"]);
  });

  scenario("B041 a Request without a body can be used again by its owner", async (page) => {
    const request = new Request(URL_);
    page.script(503, 200);
    const seen = page.see(createFetch(D0)(request));
    await page.to(1_000);
    resolved(seen, 100, 200);
    assert.equal(request.bodyUsed, false);
  });

  scenario("B041 a Request that its owner has read is the owner's mistake", async (page) => {
    const request = new Request(URL_, { method: "PUT", body: "b" });
    await request.text();
    page.script(200);
    const client = createFetch(B0);
    const seen = page.see(client(request));
    await page.to(1_000);
    assert.ok(seen.error instanceof TypeError);
    assert.deepEqual([seen.at, page.times, page.delays], [0, [], []]);
    assert.equal(client.circuits.get(KEY)?.calls ?? 0, 0);
  });

  const bytes = () => [new TextEncoder().encode("one"), new TextEncoder().encode("two")];
  const streams = {
    "a ReadableStream": () => ReadableStream.from(bytes()),
    "a stream over a generator": () =>
      ReadableStream.from(
        (async function* () {
          yield* bytes();
        })(),
      ),
    "an async generator": async function* () {
      yield* bytes();
    },
  };
  for (const [what, make] of Object.entries(streams)) {
    scenario(`B044 ${what} is sent once, and its answer kept (B042)`, async (page) => {
      page.script(500, 200);
      const call = createFetch(D0).start(URL_, { method: "PUT", body: make(), duplex: "half" });
      const seen = page.see(call.response);
      await page.to(1_000);
      resolved(seen, 0, 500);
      assert.equal(await seen.value.text(), "body 500");
      assert.deepEqual([page.times, call.state.status, call.state.reason], [[0], "failed", "body-not-replayable"]);
      assert.ok(!page.delays.length);
    });
  }

  for (const option of ["body", "bodyFactory"]) {
    scenario(`B044 a factory in ${option} makes a stream replayable (B052)`, async (page) => {
      let made = 0;
      const factory = () => {
        made++;
        return ReadableStream.from(bytes());
      };
      page.script(503, 200);
      const seen = page.see(createFetch(D0)(URL_, { method: "PUT", [option]: factory }));
      await page.to(1_000);
      resolved(seen, 100, 200);
      assert.deepEqual(await Promise.all(page.calls.map(({ request }) => request.text())), ["onetwo", "onetwo"]);
      assert.deepEqual([made, ...page.calls.map(({ request }) => request.duplex)], [2, "half", "half"]);
    });
  }

  scenario("B048 a call that succeeds at once clones and tees nothing", async (page) => {
    const spied = [];
    const undo = [
      [Request.prototype, "clone"],
      [Response.prototype, "clone"],
      [ReadableStream.prototype, "tee"],
    ].map(([prototype, name]) => {
      const before = prototype[name];
      prototype[name] = function (...args) {
        spied.push(name);
        return before.apply(this, args);
      };
      return () => {
        prototype[name] = before;
      };
    });
    try {
      page.script(200);
      await (await createFetch(D0)(URL_, { method: "PUT", body: "b" })).text();
    } finally {
      for (const restore of undo) restore();
    }
    assert.deepEqual(spied, []);
  });

  for (const inside of [false, true]) {
    scenario(`B049 a form${inside ? " in a Request" : ""} agrees with its boundary at each attempt`, async (page) => {
      const form = new FormData();
      form.append("f", new Blob(["abc"]), "f.txt");
      const init = { method: "PUT", body: form };
      page.script(503, 200);
      const seen = page.see(createFetch(D0)(...(inside ? [new Request(URL_, init)] : [URL_, init])));
      await page.to(1_000);
      resolved(seen, 100, 200);
      for (const { request } of page.calls) {
        const [, boundary] = request.headers.get("content-type").match(/boundary=(.+)$/);
        const text = await request.text();
        assert.ok(text.startsWith(`--${boundary}`) && text.includes("abc"));
      }
    });
  }

  scenario("B055 the caller gets fetch's own Response, and nobody has cloned it", async (page) => {
    const chunk = new Uint8Array(2 ** 20);
    let left = 32;
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull(controller) {
          pulled++;
          if (left-- > 0) controller.enqueue(chunk);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const native = new Response(body);
    native.clone = () => assert.fail("cloned");
    page.script(native);
    const response = await createFetch(D0)(URL_);
    await page.to(100);
    assert.equal(response, native);
    assert.equal(pulled, 0);
    assert.equal((await response.arrayBuffer()).byteLength, 32 * 2 ** 20);
  });

  scenario(
    "B056 the bodies of discarded answers are cancelled, the last one is the caller's, and none is kept",
    async (page) => {
      const bodies = [];
      const answers = [];
      page.script(() => {
        const body = fed();
        bodies.push(body);
        const response = new Response(body.stream, { status: 500 });
        answers.push(new WeakRef(response));
        return Promise.resolve(response);
      });
      const call = createFetch(over(D0, { retry: { limit: 2 } })).start(URL_);
      await page.to(1_000);
      assert.deepEqual(
        bodies.map((body) => body.cancelled),
        [1, 1, 0],
      );
      assert.deepEqual(
        call.state.failures.map(({ kind, status }) => [kind, status]),
        [
          ["status", 500],
          ["status", 500],
          ["status", 500],
        ],
      );
      page.script(200);
      await collect();
      assert.deepEqual(
        answers.map((ref) => ref.deref() !== undefined),
        [false, false, true],
      );
      assert.equal(call.state.response.status, 500);
    },
  );

  scenario("B060 bytes of two attempts are never joined", async (page) => {
    const body = fed();
    page.script(() => Promise.resolve(new Response(body.stream)), answer(200, { body: "Hello" }));
    const response = await createFetch(D0)(URL_);
    const reader = response.body.getReader();
    body.push("H");
    assert.equal(new TextDecoder().decode((await reader.read()).value), "H");
    body.fail(new TypeError("broken"));
    await assert.rejects(reader.read(), /broken/);
    await page.to(1_000);
    assert.deepEqual(page.times, [0]);
  });

  scenario("B062 HEAD with a Content-Length has no body to cancel", async (page) => {
    const head = (status) => new Response(null, { status, headers: { "Content-Length": "10" } });
    page.script(head(503), head(200));
    const seen = page.see(createFetch(D0)(URL_, { method: "HEAD" }));
    await page.to(1_000);
    resolved(seen, 100, 200);
    assert.equal(seen.value.body, null);
  });

  for (const covers of ["headers", "body"]) {
    scenario(`B063 204, 205, 304 and an empty 200 come out as they are, with covers: "${covers}"`, async (page) => {
      for (const status of [204, 205, 304, 200]) {
        const native = new Response(status === 200 ? "" : null, { status });
        page.script(native);
        const response = await createFetch(over(D0, { covers }))(URL_);
        assert.deepEqual([response.status, page.times], [status, [page.t]]);
        if (covers === "headers" || status !== 200) assert.equal(response, native);
        await page.to(page.t + 1_000);
      }
    });
  }

  const shown = (type) =>
    Object.defineProperties(new Response(null), { status: { value: 0 }, type: { value: type }, ok: { value: false } });
  for (const [id, type, init] of [
    ["B066", "opaque", { mode: "no-cors" }],
    ["B067", "opaqueredirect", { redirect: "manual" }],
  ]) {
    scenario(`${id} an answer of type ${type} is final`, async (page) => {
      const native = shown(type);
      page.script(native);
      const call = createFetch(D0).start(URL_, init);
      assert.equal(await call, native);
      assert.deepEqual([page.times, call.state.status], [[0], "success"]);
    });
  }

  scenario("B067 a refused redirect looks like a network failure and is retried like one", async (page) => {
    const error = new TypeError("redirect");
    page.script(error);
    const seen = page.see(createFetch(D0)(URL_, { redirect: "error" }));
    await page.to(1_000);
    rejected(seen, 700, error);
    assert.equal(page.calls.length, 4);
  });

  for (const [what, options] of [
    ["the default rules", { timeout: false, breaker: false }],
    ["D0", D0],
  ]) {
    scenario(`B068 answers that are final by ${what}`, async (page) => {
      const more = [300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 451, 501, 505];
      for (const status of [200, 201, 202, 203, 206, 226, 299, 304, ...more]) {
        page.script(status, 200);
        const seen = page.see(createFetch(options)(URL_));
        const began = page.t;
        await page.to(began + 60_000);
        resolved(seen, began, status);
        assert.equal(page.calls.length, 1);
      }
    });
  }

  scenario("B095 a 403 is final whatever its Date says, unless shouldRetry wants it", async (page) => {
    for (const date of ["Tue, 01 Jan 2030 00:00:00 GMT", "Tue, 01 Jan 2030 00:20:00 GMT"]) {
      page.script(answer(403, { headers: { Date: date } }), 200);
      assert.equal((await createFetch(D0)(URL_)).status, 403);
      assert.equal(page.calls.length, 1);
    }
    page.script(403, 200);
    const client = createFetch(over(D0, { retry: { shouldRetry: ({ response }) => response.status === 403 } }));
    const seen = page.see(client(URL_));
    await page.to(1_000);
    resolved(seen, 100, 200);
  });

  scenario("B116 a 400 is not retried", async (page) => {
    page.script(400);
    assert.equal((await createFetch(D0)(URL_, { method: "PUT", body: "b" })).status, 400);
    await page.to(1_000);
    assert.deepEqual(page.times, [0]);
  });

  const mistakes = {
    "credentials in the URL": ["http://user:pw@a.test/"],
    "no URL": ["http://["],
    "a forbidden method": [URL_, { method: "TRACE" }],
    "GET with a body": [URL_, { body: "b" }],
    "a header name with a space": [URL_, { headers: { "a b": "c" } }],
    "mode navigate": [URL_, { mode: "navigate" }],
    "no arguments": [],
    "a signal that is none": [URL_, { signal: {} }],
  };
  scenario(
    "B120 mistakes of the caller reject with a TypeError before anything is sent or counted (B137)",
    async (page) => {
      page.script(200);
      const client = createFetch(B0);
      for (const [what, args] of Object.entries(mistakes)) {
        const promise = client(...args);
        assert.equal(Object.getPrototypeOf(promise), Promise.prototype);
        const seen = page.see(promise);
        await page.to(page.t);
        if (args.length || seen.rejected) assert.ok(seen.error instanceof TypeError, what);
      }
      assert.deepEqual(
        [page.calls.filter(({ request }) => request.url.includes("a.test")).length, page.delays],
        [0, []],
      );
      assert.deepEqual([...client.circuits].map((circuit) => circuit.calls).filter(Boolean), []);
    },
  );

  scenario("B137 bad options, used Requests and aborted signals reject and never throw", async (page) => {
    page.script(200);
    const client = createFetch(D0);
    const used = new Request(URL_, { method: "PUT", body: "b" });
    await used.text();
    const all = [
      [URL_, { timeout: -1 }],
      [URL_, { retry: { limit: "x" } }],
      [URL_, { onState: 5 }],
      [used],
      [URL_, { signal: AbortSignal.abort() }],
      [Symbol("no")],
      [URL_, 5],
    ];
    for (const args of all) {
      const promise = client(...args);
      assert.ok(promise instanceof Promise);
      const seen = page.see(promise);
      await page.to(page.t);
      assert.equal(seen.rejected, true, String(args[1]));
    }
  });

  const codes = ["ENOTFOUND", "EAI_AGAIN", "ECONNRESET", "ECONNREFUSED", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED"];
  for (const cause of [...codes.map((code) => ({ code })), undefined, null, "odd", 7]) {
    scenario(`B122 a network failure is one whatever its cause: ${cause?.code ?? cause}`, async (page) => {
      const error = Object.assign(new TypeError("fetch failed"), { cause });
      page.script(error);
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(1_000);
      rejected(seen, 700, error);
      assert.equal(page.calls.length, 4);
    });
  }

  scenario("B125 a keepalive request over the shared quota is refused by the browser and retried", async (page) => {
    let used = 0;
    page.script(async (request) => {
      const { byteLength } = await request.arrayBuffer();
      if (used + byteLength > 65_536) throw new TypeError("quota");
      used += byteLength;
      await page.sleep(50);
      used -= byteLength;
      return answer(200);
    });
    const client = createFetch(over(D0, { idempotencyKey: "auto" }));
    const init = { method: "POST", body: "x".repeat(30 * 1024), keepalive: true };
    const all = [0, 1, 2].map(() => page.see(client(URL_, init)));
    await page.to(1_000);
    resolved(all[0], 50, 200);
    resolved(all[1], 50, 200);
    resolved(all[2], 150, 200);
  });

  /** A browser that lends 64 KiB, or as many requests as `most`, to keepalive requests and refuses what is over. */
  const lender = (page, most = Number.POSITIVE_INFINITY) => {
    const lent = { bytes: 0, requests: 0, kept: [], refused: 0 };
    page.script(async (request) => {
      const { keepalive } = request;
      lent.kept.push(keepalive);
      const { byteLength } = await request.clone().arrayBuffer();
      if (!keepalive) {
        await page.sleep(50);
        return answer(200);
      }
      if (lent.bytes + byteLength > 65_536 || lent.requests >= most) {
        lent.refused++;
        throw new TypeError("quota");
      }
      lent.bytes += byteLength;
      lent.requests++;
      await page.sleep(50);
      lent.bytes -= byteLength;
      lent.requests--;
      return answer(200);
    });
    return lent;
  };
  const text = "x".repeat(30 * 1024);
  const form = (size) => {
    const form = new FormData();
    form.set("file", new Blob(["x".repeat(size)]), "name.txt");
    return form;
  };
  for (const [what, body] of [
    ["text", () => text],
    ["text of two bytes a character", () => "\u00e9".repeat(15 * 1024)],
    ["URLSearchParams", () => new URLSearchParams({ x: text })],
    ["a Blob", () => new Blob([text])],
    ["an ArrayBuffer", () => new ArrayBuffer(30 * 1024)],
    ["a view", () => new Uint16Array(15 * 1024)],
    ["a FormData", () => form(29 * 1024)],
    ["a body of a factory", () => () => text],
    ["a body of an asynchronous factory", () => async () => text],
  ]) {
    scenario(`B125 what would go over the browser's quota is sent without keepalive: ${what}`, async (page) => {
      const lent = lender(page);
      const client = createFetch(D0);
      const all = [0, 1, 2, 3].map(() => page.see(client(URL_, { method: "POST", body: body(), keepalive: true })));
      await page.to(100);
      for (const seen of all) resolved(seen, 50, 200);
      // URLSearchParams are longer by their name.
      const two = what === "URLSearchParams" ? [true, false] : [true, true];
      assert.deepEqual([lent.kept.slice(0, 2), lent.kept.slice(2), lent.refused], [two, [false, false], 0]);
      // What was lent is given back.
      const again = page.see(client(URL_, { method: "POST", body: body(), keepalive: true }));
      await page.to(200);
      resolved(again, 150, 200);
      assert.equal(lent.kept.at(-1), true);
    });
  }

  scenario("B125 nine keepalive requests at most, and no more than that of all clients of a page", async (page) => {
    const lent = lender(page);
    const clients = [createFetch(D0), createFetch(D0)];
    const init = { method: "POST", body: "x", keepalive: true };
    const all = Array.from({ length: 12 }, (_, i) => page.see(clients[i % 2](URL_, init)));
    await page.to(100);
    for (const seen of all) resolved(seen, 50, 200);
    assert.equal(lent.kept.filter(Boolean).length, 9);
  });

  scenario("B125 an aborted keepalive request gives back what it was lent", async (page) => {
    const client = createFetch(D0);
    const controllers = [page.controller(), page.controller()];
    page.script("pend");
    const init = { method: "POST", body: text, keepalive: true };
    for (const { signal } of controllers) page.see(client(URL_, { ...init, signal }));
    await page.to(0);
    for (const controller of controllers) controller.abort();
    await page.to(1);
    const lent = lender(page);
    for (let i = 0; i < 2; i++) page.see(client(URL_, init));
    await page.to(100);
    assert.deepEqual(lent.kept, [true, true]);
  });

  scenario(
    "B125 where the browser lends no more, one try without keepalive is free and comes at once",
    async (page) => {
      const lent = lender(page, 0);
      const client = createFetch(over(D0, { retry: { limit: 1 }, breaker: { consecutiveFailures: 1 } }));
      const seen = page.see(client(URL_, { method: "PUT", body: "b", keepalive: true }));
      await page.to(1_000);
      resolved(seen, 50, 200);
      assert.deepEqual(lent.kept, [true, false]);
      assert.equal(client.circuits.get(KEY)?.status, "closed");
      const bodies = await Promise.all(page.calls.map(({ request }) => request.text()));
      assert.deepEqual(bodies, ["b", "b"]);
    },
  );

  scenario("B125 a POST without a key is not sent again for want of keepalive", async (page) => {
    const lent = lender(page, 0);
    const seen = page.see(createFetch(D0)(URL_, { method: "POST", body: "b", keepalive: true }));
    await page.to(1_000);
    assert.equal(seen.error?.message, "quota");
    assert.deepEqual(lent.kept, [true]);
  });

  for (const [what, odd] of Object.entries({
    undefined: () => undefined,
    "a number": () => 7,
    "a status below zero": () => ({ status: -503 }),
    "a status that is none": () => ({ status: 1e12 }),
    "half a status": () => ({ status: 200.5 }),
    "a status that throws": () => ({
      get status() {
        throw new Error("no status");
      },
    }),
  })) {
    scenario(`a custom fetch that gives no response, but ${what}, is a mistake of the caller's`, async (page) => {
      const client = createFetch({ ...D0, fetch: async () => odd() });
      const call = client.start(URL_);
      const seen = page.see(call.response);
      await page.to(1_000);
      assert.deepEqual([seen.error?.message, call.state.reason], [NO_RESPONSE, "invalid-request"]);
    });
  }

  scenario("a factory whose body is none for this request is a mistake of the caller's", async (page) => {
    for (const body of [() => "b", async () => "b"]) {
      const call = createFetch(D0).start(URL_, { body });
      const seen = page.see(call.response);
      await page.to(page.t + 10);
      assert.deepEqual([seen.error?.name, call.state.reason], ["TypeError", "invalid-request"]);
    }
    const thrown = new Error("no body");
    const failing = () => {
      throw thrown;
    };
    const call = createFetch(D0).start(URL_, { method: "PUT", body: failing });
    await page.to(page.t + 10);
    assert.deepEqual([call.state.error, call.state.reason], [thrown, "callback-threw"]);
    assert.equal(page.calls.length, 0);
  });

  scenario("members of init that nobody knows are not looked at", async (page) => {
    page.script(200);
    const init = {
      get whatever() {
        throw new Error("looked at");
      },
    };
    const seen = page.see(createFetch(D0)(URL_, init));
    await page.to(10);
    resolved(seen, 0, 200);
  });

  scenario("a key in quotes is printable ASCII, or is refused", async (page) => {
    page.script(200);
    const client = createFetch(over(D0, { idempotencyHeader: { format: "sf-string" } }));
    const good = page.see(client(URL_, { method: "POST", body: "b", idempotencyKey: 'a"b\\c' }));
    const bad = page.see(client(URL_, { method: "POST", body: "b", idempotencyKey: "\u00e9" }));
    await page.to(10);
    resolved(good, 0, 200);
    assert.equal(page.calls[0].request.headers.get("Idempotency-Key"), '"a\\"b\\\\c"');
    assert.match(bad.error?.message, /printable ASCII/);
    assert.equal(page.calls.length, 1);
  });

  scenario("the key is the same on every attempt, whatever a hook does to the request", async (page) => {
    const changes = [
      ({ request }) => request.headers.delete("Idempotency-Key"),
      ({ request }) => request.headers.set("Idempotency-Key", "mine"),
      ({ request }) => new Request(request.url, { method: "POST", body: "other" }),
    ];
    page.script(503, 503, 503, 200);
    const beforeRetry = (context) => changes[context.attempt - 1](context);
    const client = createFetch(over(D0, { idempotencyKey: "auto", retry: { beforeRetry } }));
    const seen = page.see(client(URL_, { method: "POST", body: "b" }));
    await page.to(2_000);
    resolved(seen, 700, 200);
    const keys = page.calls.map(({ request }) => request.headers.get("Idempotency-Key"));
    assert.deepEqual(new Set(keys), new Set([keys[0]]));
    assert.match(keys[0], /^[0-9a-f-]{36}$/);
  });

  scenario("a platform without AbortSignal.any or a monotonic clock", async (page) => {
    const { any } = AbortSignal;
    const { now } = performance;
    AbortSignal.any = undefined;
    performance.now = undefined;
    try {
      page.script(503, 200);
      const seen = page.see(createFetch(D0)(URL_, { signal: page.controller().signal }));
      await page.to(1_000);
      resolved(seen, 100, 200);
      page.signals.clear();
    } finally {
      AbortSignal.any = any;
      performance.now = now;
    }
  });

  scenario("a keepalive call that is not retried is as native fetch would have it", async (page) => {
    const lent = lender(page);
    const init = { method: "POST", body: "x".repeat(70_000), keepalive: true };
    const seen = page.see(createFetch(over(D0, { retry: false }))(URL_, init));
    await page.to(1_000);
    assert.equal(seen.error?.message, "quota");
    assert.deepEqual(lent.kept, [true]);
  });

  scenario("a custom fetch that gives Response.error() has failed", async (page) => {
    page.script(Response.error(), 200);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    resolved(seen, 100, 200);
    page.script(() => Promise.resolve(Response.error()));
    const last = page.see(createFetch(over(D0, { retry: false }))(URL_));
    await page.to(2_000);
    assert.ok(last.error instanceof TypeError);
  });

  for (const name of ["", "a b", "a:b", "\u00e9", "a\r\nb", 5, null]) {
    scenario(`idempotencyHeader.name ${JSON.stringify(name)} is refused when the client is made`, async () => {
      const kind = typeof name === "string" ? RangeError : TypeError;
      assert.throws(() => createFetch({ idempotencyHeader: { name } }), kind);
    });
  }

  scenario("B128 425 is retried for GET, and not for a POST without a key", async (page) => {
    page.script(425, 200);
    const get = page.see(createFetch(D0)(URL_));
    await page.to(500);
    resolved(get, 100, 200);
    page.script(425, 200);
    const post = page.see(createFetch(D0)(URL_, { method: "POST", body: "b" }));
    await page.to(1_000);
    resolved(post, 500, 425);
    assert.equal(page.calls.length, 1);
  });

  scenario("B129 methods are what the Request makes of them", async (page) => {
    const warn = process.emitWarning;
    process.emitWarning = () => {};
    try {
      for (const [method, attempts] of [
        ["get", 4],
        ["Put", 4],
        ["patch", 1],
        ["PATCH", 1],
        ["PaTcH", 1],
      ]) {
        page.script(503);
        const sent = new Request(URL_, { method }).method;
        const seen = page.see(createFetch(D0)(URL_, { method }));
        await page.to(page.t + 1_000);
        assert.equal(seen.value.status, 503);
        assert.deepEqual([page.calls.length, page.calls[0].request.method], [attempts, sent]);
      }
    } finally {
      process.emitWarning = warn;
    }
  });

  const keyed = {
    "a plain object": [URL_, { headers: { "idempotency-KEY": "mine" } }],
    Headers: [URL_, { headers: new Headers({ "Idempotency-Key": "mine" }) }],
    pairs: [URL_, { headers: [["Idempotency-Key", "mine"]] }],
    "a Request": [new Request(URL_, { method: "POST", headers: { "Idempotency-Key": "mine" }, body: "b" })],
  };
  for (const [what, [input, init]] of Object.entries(keyed)) {
    scenario(`B131 the caller's own key wins over the option: ${what}`, async (page) => {
      page.script(503, 200);
      const client = createFetch(over(D0, { idempotencyKey: "ours" }));
      const seen = page.see(client(input, init && { ...init, method: "POST", body: "b" }));
      await page.to(1_000);
      resolved(seen, 100, 200);
      assert.deepEqual(
        page.calls.map(({ request }) => request.headers.get("idempotency-key")),
        ["mine", "mine"],
      );
    });
  }

  for (const without of [false, true]) {
    scenario(`B132 one key per call, on every attempt${without ? ", without randomUUID" : ""}`, async (page) => {
      const { randomUUID } = crypto;
      if (without) Object.defineProperty(crypto, "randomUUID", { configurable: true, value: undefined });
      try {
        const client = createFetch(over(D0, { idempotencyKey: "auto" }));
        const keys = [];
        for (let i = 0; i < 2; i++) {
          page.script(503, 503, 200);
          const seen = page.see(client(URL_, { method: "POST", body: "b" }));
          await page.to(page.t + 1_000);
          assert.equal(seen.value.status, 200);
          const sent = page.calls.map(({ request }) => request.headers.get("idempotency-key"));
          assert.equal(sent.length, 3);
          assert.equal(new Set(sent).size, 1);
          assert.match(sent[0], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          keys.push(sent[0]);
        }
        assert.notEqual(keys[0], keys[1]);
      } finally {
        if (without) {
          delete crypto.randomUUID;
          assert.equal(crypto.randomUUID, randomUUID);
        }
      }
    });
  }

  scenario("B133 a 409 is retried as the echo of our own attempt, and only then", async (page) => {
    const client = createFetch(over(D0, { timeout: 100, idempotencyKey: "auto" }));
    page.script("pend", 409, 200);
    const seen = page.see(client(URL_, { method: "POST", body: "b" }));
    await page.to(1_000);
    resolved(seen, 400, 200);
    assert.equal(page.calls.length, 3);
    page.script(409, 200);
    const first = page.see(client(URL_, { method: "POST", body: "b" }));
    await page.to(2_000);
    resolved(first, 1_000, 409);
    assert.equal(page.calls.length, 1);
  });

  const failing = {
    "a rejected promise": (error) => Promise.reject(error),
    "an exception": (error) => {
      throw error;
    },
    // biome-ignore lint/suspicious/noThenProperty: a thenable is the point.
    "a thenable that rejects": (error) => ({ then: (_, reject) => reject(error) }),
  };
  for (const [what, fail] of Object.entries(failing)) {
    scenario(`B136 ${what} from fetch is a network failure`, async (page) => {
      const error = new TypeError("no");
      page.script(() => fail(error));
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(1_000);
      rejected(seen, 700, error);
      assert.equal(page.calls.length, 4);
    });
  }

  scenario("B136 a fetch that gives no Response is broken, and not asked again", async (page) => {
    page.script(() => undefined);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    assert.ok(seen.error instanceof TypeError);
    assert.match(seen.error.message, /fetch returned no Response/);
    assert.deepEqual([seen.at, page.times], [0, [0]]);
  });
});
