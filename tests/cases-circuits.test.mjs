// Circuits: when they open, whom they let through, and what they keep.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { CircuitOpenError, createFetch, isCircuitOpenError } from "../pkg/dist/index.js";
import { after, answer, B0, collect, D0, fed, over, scenario, URL_ } from "./support/cases.mjs";
import { hinted, KEY, refused, resolved, timedOut, tripped } from "./support/cases-shared.mjs";

describe("keys", () => {
  scenario("a key of ten megabytes is refused, and twenty thousand keys are bounded", async (page) => {
    page.script(200);
    const long = createFetch(over(B0, { breaker: { key: () => "k".repeat(10_000_000) } }));
    const seen = page.see(long(URL_));
    await page.to(0);
    assert.match(seen.error?.message, /breaker\.key must return a string of at most 2048 characters/);
    assert.equal(page.calls.length, 0);
    let n = 0;
    const many = createFetch(over(B0, { breaker: { key: () => `k${n++}` } }));
    page.script(() => Promise.resolve(answer(200)));
    for (let i = 0; i < 20_000; i++) {
      many(URL_);
      if (i % 500 === 0) await page.to(page.t);
      page.calls.length = 0;
    }
    await page.to(page.t);
    assert.ok(many.circuits.getSnapshot().length <= 1_000);
  });
});

describe("what is left of an open circuit's time", () => {
  scenario("is told by the clock, also where nobody looked before", async (page) => {
    const client = createFetch(over(B0, { breaker: { halfOpenAfter: 30_000, maxOpen: 30_000 } }));
    page.script(503);
    for (let i = 0; i < 3; i++) page.see(client(URL_));
    await page.to(0);
    await page.to(10_000);
    const { openUntil, remaining } = client.circuits.get(KEY);
    assert.equal(remaining, openUntil - page.wall);
  });
});

describe("holds by hand", () => {
  scenario("to let go after the client is disposed of does nothing", async () => {
    const client = createFetch(B0);
    const release = client.circuits.isolate(KEY);
    client.dispose();
    release();
    release();
  });

  scenario("a thousand circuits are held, and one more is refused", async () => {
    const client = createFetch(B0);
    const held = Array.from({ length: 1_000 }, (_, i) => client.circuits.isolate(`k${i}`));
    assert.throws(() => client.circuits.isolate("one more"), /RangeError: .* at most 1000 circuits/);
    held[0]();
    client.circuits.isolate("one more");
    assert.equal(client.circuits.get("one more").status, "isolated");
    assert.throws(() => client.circuits.isolate("k".repeat(2_049)), /TypeError: .* at most 2048 characters/);
    assert.ok(client.circuits.getSnapshot().length <= 1_001);
  });
});

describe("circuits shared by tabs in a browser that fails", () => {
  const SHARED = over(B0, { breaker: { share: "tabs" } });

  /** The circuit opens at 0; then the locks are these. */
  async function probed(page, request) {
    Object.defineProperty(globalThis, "navigator", { configurable: true, value: { locks: { request } } });
    const client = createFetch(SHARED);
    page.script(503);
    for (let i = 0; i < 3; i++) page.see(client(URL_));
    await page.to(1_000);
    page.script(200);
    const seen = page.see(client(URL_));
    await page.to(10_000);
    client.dispose();
    return seen;
  }

  scenario("a channel that cannot be written to leaves every tab alone", async (page) => {
    const { BroadcastChannel } = globalThis;
    globalThis.BroadcastChannel = class {
      postMessage() {
        throw new DOMException("closed", "InvalidStateError");
      }
      close() {}
    };
    try {
      const client = createFetch(SHARED);
      page.script(200);
      assert.equal((await client(URL_)).status, 200);
      client.dispose();
    } finally {
      globalThis.BroadcastChannel = BroadcastChannel;
    }
  });

  scenario("what was heard is told to a tab that comes as the transition of who made it", async (page) => {
    const { BroadcastChannel } = globalThis;
    const sent = [];
    let channel;
    globalThis.BroadcastChannel = class {
      constructor() {
        channel = this;
      }
      postMessage(data) {
        sent.push(data);
      }
      close() {}
    };
    try {
      const client = createFetch(SHARED);
      const hear = (data) => channel.onmessage({ data });
      const until = page.wall + 500;
      hear([1, 1, 7_777, KEY, 5, until, 0, 1]);
      sent.length = 0;
      hear([1, 0, 8, "", 0, 0, 0, 0]);
      assert.deepEqual(sent, [[1, 1, 7_777, KEY, 5, until, 0, 1]]);
      // Its copy is no longer, though the wall clock was set back.
      page.wallShift = -60_000;
      hear(sent[0]);
      assert.equal(client.circuits.get(KEY).remaining, 1_000);
      await page.to(500);
      assert.equal(client.circuits.get(KEY).status, "half-open");
      client.dispose();
    } finally {
      globalThis.BroadcastChannel = BroadcastChannel;
    }
  });

  scenario("locks that throw are none", async (page) => {
    const seen = await probed(page, () => {
      throw new DOMException("no", "SecurityError");
    });
    resolved(seen, 1_000, 200);
  });

  scenario("locks that never answer are none after a moment", async (page) => {
    resolved(await probed(page, () => new Promise(() => {})), 4_000, 200);
  });

  scenario("a lock that comes when it is not waited for any more is given back", async (page) => {
    let held;
    const request = async (_name, _options, got) => {
      await page.sleep(5_000);
      held = got({ mode: "exclusive" });
    };
    resolved(await probed(page, request), 4_000, 200);
    assert.equal(held, undefined);
  });
});

describe("circuits", () => {
  scenario("B157 a half-open circuit lets one probe through, and a failed probe opens it again", async (page) => {
    const { client, changes } = await tripped(page);
    page.script(after(20, 503));
    await page.to(999);
    const early = page.see(client(URL_));
    await page.to(1_000);
    assert.ok(refused(early));
    const all = Array.from({ length: 50 }, () => page.see(client(URL_)));
    await page.to(1_010);
    assert.equal(page.calls.length, 1);
    assert.equal(all.filter(refused).length, 49);
    await page.to(2_019);
    const again = page.see(client(URL_));
    await page.to(2_019);
    assert.ok(refused(again));
    assert.equal(page.calls.length, 1);
    await page.to(2_020);
    page.script(200);
    const last = page.see(client(URL_));
    await page.to(2_020);
    resolved(last, 2_020, 200);
    assert.deepEqual(changes, [
      [0, "open"],
      [1_000, "half-open"],
      [1_020, "open"],
      [2_020, "half-open"],
      [2_020, "closed"],
    ]);
    client.dispose();
  });

  scenario("B158 the minimum of calls means nothing to a probe", async (page) => {
    const breaker = { consecutiveFailures: 0, failureRate: 0.5, minimumCalls: 10, window: 500 };
    const client = createFetch(over(B0, { breaker }));
    page.script(500);
    for (let i = 0; i < 10; i++) await client(URL_);
    assert.equal(client.circuits.get(KEY).status, "open");
    await page.to(5_000);
    page.script(500);
    await client(URL_);
    assert.equal(client.circuits.get(KEY).status, "open");
    await page.to(5_999);
    assert.ok(isCircuitOpenError(await client(URL_).catch((error) => error)));
    await page.to(6_000);
    page.script(200);
    assert.equal((await client(URL_)).status, 200);
    assert.equal(client.circuits.get(KEY).status, "closed");
  });

  for (const [when, lateAt] of [
    ["while it is open", 500],
    ["while a probe is out", 1_015],
  ]) {
    scenario(`B159 a success from before it opened changes nothing ${when}`, async (page) => {
      const client = createFetch(B0);
      page.script(after(lateAt, 200));
      const late = page.see(client(URL_));
      await page.to(10);
      page.script(503);
      for (let i = 0; i < 3; i++) await client(URL_);
      assert.equal(client.circuits.get(KEY).openUntil, page.wall + 1_000);
      page.script(after(50, 503));
      if (lateAt > 1_000) {
        await page.to(1_010);
        page.see(client(URL_));
      }
      await page.to(lateAt);
      resolved(late, lateAt, 200);
      assert.equal(client.circuits.get(KEY).status, lateAt > 1_000 ? "half-open" : "open");
      await page.to(1_100);
      assert.equal(client.circuits.get(KEY).status, lateAt > 1_000 ? "open" : "half-open");
    });
  }

  scenario("B160 failures that come after the one that opened it neither extend nor repeat that", async (page) => {
    const client = createFetch(over(B0, { breaker: { consecutiveFailures: 5 } }));
    const changes = [];
    client.addEventListener("circuit", ({ detail }) => {
      if (detail.status !== changes.at(-1)?.[1]) changes.push([page.t, detail.status, detail.openUntil - page.wall]);
    });
    let n = 0;
    page.script(() => page.sleep(++n > 6 ? 12 : 10 + (n === 6)).then(() => answer(503)));
    for (let i = 0; i < 8; i++) page.see(client(URL_));
    await page.to(1_009);
    assert.deepEqual(changes, [[10, "open", 1_000]]);
    await page.to(1_010);
    assert.deepEqual(changes.at(-1).slice(0, 2), [1_010, "half-open"]);
    client.dispose();
  });

  scenario("B166 disposed is told once, before the listeners go, and later calls reject", async (page) => {
    const client = createFetch(D0);
    let told = 0;
    client.addEventListener("disposed", () => told++);
    client.dispose();
    client.dispose();
    page.script(200);
    const seen = page.see(client(URL_));
    await page.to(0);
    assert.deepEqual([told, seen.error?.name, page.times], [1, "InvalidStateError", []]);
  });

  scenario("B174 looking at a half-open circuit takes no permit", async (page) => {
    const { client, circuit } = await tripped(page);
    await page.to(1_000);
    for (let i = 0; i < 1_000; i++) {
      assert.equal(circuit().status, "half-open");
      client.getSnapshot();
    }
    page.script(200);
    assert.equal((await client(URL_)).status, 200);
    assert.equal(circuit().status, "closed");
    client.dispose();
  });

  scenario("B175 no more probes than permitted, wherever the calls come from", async (page) => {
    const { client } = await tripped(page, { breaker: { halfOpenProbes: 2, halfOpenSuccesses: 2 } });
    page.script("pend");
    const seen = [];
    const begin = () => seen.push(page.see(client(URL_)));
    client.addEventListener("circuit", ({ detail }) => {
      if (detail.status === "half-open") for (let i = 0; i < 25; i++) begin();
    });
    for (let i = 0; i < 25; i++) page.at(1_000, begin);
    page.at(1_000, () => {
      for (let i = 0; i < 25; i++) begin();
      for (let i = 0; i < 25; i++) queueMicrotask(begin);
    });
    await page.to(1_050);
    assert.equal(seen.length, 100);
    assert.equal(page.calls.length, 2);
    assert.equal(seen.filter(refused).length, 98);
    client.dispose();
  });

  const endings = {
    "an abort during the attempt": async (page, client) => {
      const controller = page.controller();
      page.script("pend");
      page.see(client(URL_, { signal: controller.signal }));
      await page.to(page.t + 10);
      controller.abort();
    },
    "a body that its reader cancels": async (page, client) => {
      page.script(() => Promise.resolve(new Response(fed().stream)));
      await (await client(URL_)).body.cancel();
    },
    "a body that breaks": async (page, client) => {
      const body = fed();
      page.script(() => Promise.resolve(new Response(body.stream)));
      const response = await client(URL_);
      body.fail(new TypeError("broken"));
      await response.text().catch(() => {});
    },
    "cancel()": async (page, client) => {
      page.script("pend");
      const call = client.start(URL_);
      await page.to(page.t + 10);
      call.cancel();
    },
    "the end of another client": async () => {
      const other = createFetch(B0);
      await other(URL_);
      other.dispose();
    },
  };
  for (const [what, end] of Object.entries(endings)) {
    scenario(`B176 a permit comes back after ${what}`, async (page) => {
      const { client, circuit } = await tripped(page, { breaker: { halfOpenProbes: 3, halfOpenSuccesses: 100 } });
      await page.to(1_000);
      await end(page, client);
      await page.to(page.t + 10);
      assert.equal(circuit().status, "half-open");
      page.script("pend");
      const all = Array.from({ length: 4 }, () => page.see(client(URL_)));
      await page.to(page.t + 10);
      assert.equal(page.calls.length, 3);
      assert.equal(all.filter(refused).length, 1);
      client.dispose();
    });
  }

  scenario(
    "B176 a probe that the total limit ends decides, or gives its permit back: it is never lost",
    async (page) => {
      const { client, circuit } = await tripped(page);
      await page.to(1_000);
      page.script("pend");
      const seen = page.see(client(URL_, { totalTimeout: 100 }));
      await page.to(1_100);
      timedOut(seen, 1_100, "total");
      await page.to(2_100);
      page.script(200);
      assert.equal((await client(URL_)).status, 200);
      assert.equal(circuit().status, "closed");
      client.dispose();
    },
  );

  scenario("B176 a probe whose shouldRetry never answers is not lost either", async (page) => {
    const { client, circuit } = await tripped(page);
    await page.to(1_000);
    page.script(503);
    const retry = { limit: 3, shouldRetry: () => new Promise(() => {}) };
    const seen = page.see(client(URL_, { totalTimeout: 100, retry }));
    await page.to(1_100);
    assert.notEqual(seen.at, undefined);
    await page.to(2_100);
    page.script(200);
    assert.equal((await client(URL_)).status, 200);
    assert.equal(circuit().status, "closed");
    client.dispose();
  });

  for (const [status, expected] of [
    [404, "closed"],
    [304, "closed"],
    [200, "closed"],
    [429, "open"],
    [500, "open"],
    [0, "closed"],
  ]) {
    scenario(
      `B177 a probe that gets ${status || "an opaque answer (B066)"} leaves the circuit ${expected}`,
      async (page) => {
        const { client, circuit } = await tripped(page);
        await page.to(1_000);
        const opaque = () =>
          Object.defineProperties(new Response(null), { status: { value: 0 }, type: { value: "opaque" } });
        page.script(() => Promise.resolve(status ? answer(status) : opaque()));
        await client(URL_, { mode: status ? "cors" : "no-cors" });
        assert.equal(circuit().status, expected);
        client.dispose();
      },
    );
  }

  scenario("B178 calls that their callers abort are no verdict", async (page) => {
    const client = createFetch(B0);
    let changes = 0;
    client.addEventListener("circuit", ({ detail }) => {
      if (detail.status !== "closed") changes++;
    });
    const abort = async () => {
      const controller = page.controller();
      page.script("pend");
      page.see(client(URL_, { signal: controller.signal }));
      await page.to(page.t);
      controller.abort();
      await page.to(page.t);
    };
    const fail = async () => {
      page.script(500);
      await client(URL_);
    };
    for (let i = 0; i < 100; i++) await abort();
    await fail();
    await fail();
    await abort();
    assert.deepEqual([changes, client.circuits.get(KEY).status], [0, "closed"]);
    await fail();
    assert.deepEqual([changes, client.circuits.get(KEY).status], [1, "open"]);
    client.dispose();
  });

  scenario("B181 a refusal is not retryable, and the first probe counts as one", async (page) => {
    const { client } = await tripped(page);
    let asked = 0;
    const shouldRetry = () => {
      asked++;
      return true;
    };
    const before = page.delays.length;
    const retry = { limit: 3, shouldRetry };
    const first = Array.from({ length: 10 }, () => page.see(client(URL_, { retry })));
    await page.to(0);
    assert.ok(first.every((seen) => refused(seen) && seen.at === 0));
    assert.deepEqual([asked, page.calls.length, page.delays.length - before], [0, 0, 0]);
    await page.to(1_000);
    page.script("pend");
    for (let i = 0; i < 10; i++) page.see(client(URL_));
    await page.to(1_000);
    assert.equal(page.calls.length, 1);
    client.dispose();
  });

  scenario("B182 a CircuitOpenError tells of the circuit and of nobody's request", async (page) => {
    const client = createFetch(B0);
    const held = [];
    page.script(() => {
      const error = Object.assign(new TypeError("no"), { big: new Uint8Array(1_000) });
      held.push(new WeakRef(error));
      return Promise.reject(error);
    });
    for (let i = 0; i < 3; i++) await client(URL_).catch(() => {});
    const errors = [];
    for (let i = 0; i < 10; i++) errors.push(await client(URL_).catch((error) => error));
    page.script(200);
    await collect();
    assert.deepEqual(
      held.map((ref) => ref.deref()),
      [undefined, undefined, undefined],
    );
    for (const error of errors) {
      assert.ok(error instanceof CircuitOpenError);
      assert.deepEqual([error.circuit, error.retryAt], [KEY, page.wall + 1_000]);
      assert.equal(error.cause, undefined);
    }
  });

  for (const throws of [false, true]) {
    scenario(
      `B183 a probe of an older epoch is ignored${throws ? ", and so is what listeners throw" : ""}`,
      async (page) => {
        const fault = new Error("listener");
        const client = createFetch(over(B0, { breaker: { halfOpenProbes: 2 } }));
        const changes = [];
        for (const type of ["circuit", "statechange"]) {
          client.addEventListener(type, ({ detail }) => {
            if (type === "circuit" && detail.status !== changes.at(-1)?.[1]) changes.push([page.t, detail.status]);
            if (throws) throw fault;
          });
        }
        page.script(503);
        for (let i = 0; i < 3; i++) assert.equal((await client(URL_)).status, 503);
        await page.to(1_000);
        page.script(after(10, 503), after(20, 200));
        const probes = [page.see(client(URL_)), page.see(client(URL_))];
        await page.to(1_100);
        resolved(probes[0], 1_010, 503);
        resolved(probes[1], 1_020, 200);
        assert.deepEqual(changes, [
          [0, "open"],
          [1_000, "half-open"],
          [1_010, "open"],
        ]);
        client.dispose();
        const reported = page.takeReported();
        assert.equal(reported.length > 0, throws);
        assert.ok(reported.every((error) => error === fault));
      },
    );
  }

  scenario("B185 the circuits of more than a thousand origins are bounded, and have no timers", async (page) => {
    const client = createFetch(B0);
    page.script(503);
    for (let i = 0; i < 1_300; i++) await client(`https://h${i}.test/`);
    assert.ok([...client.circuits].length <= 1_000);
    assert.equal(page.timers, 0);
  });

  scenario("B186 closed and idle circuits make room, open ones and those with a probe out do not", async (page) => {
    const client = createFetch(over(B0, { breaker: { halfOpenAfter: 100_000, maxOpen: 100_000 } }));
    const trip = async (url, options) => {
      page.script(503);
      for (let i = 0; i < 3; i++) await client(url, options);
    };
    await trip("https://b.test/", { breaker: { halfOpenAfter: 100, maxOpen: 100 } });
    await page.to(100);
    page.script("pend");
    page.see(client("https://b.test/"));
    await trip("https://a.test/");
    page.script(200);
    for (let i = 0; i < 1_100; i++) await client(`https://h${i}.test/`);
    assert.equal(client.circuits.get("https://a.test").status, "open");
    assert.equal(client.circuits.get("https://b.test").status, "half-open");
    assert.ok([...client.circuits].length <= 1_000);
    assert.equal(client.circuits.get("https://h0.test"), undefined);
    client.dispose();
  });

  scenario("B187 a circuit that opens with the last attempt: each end is told once, after it", async (page) => {
    const client = createFetch(over(B0, { retry: { limit: 2 } }));
    const order = [];
    client.addEventListener("circuit", ({ detail }) => {
      if (detail.status === "open") order.push("open");
    });
    client.addEventListener("statechange", ({ detail }) => order.push(detail.state.status));
    page.script(503);
    const seen = page.see(client(URL_));
    await page.to(500);
    resolved(seen, 300, 503);
    assert.deepEqual(
      order.filter((it) => it !== "idle"),
      ["loading", "waiting", "loading", "waiting", "loading", "open", "exhausted"],
    );
    client.dispose();
  });

  scenario("B188 429 does not open it, the third 503 in a row does", async (page) => {
    const client = createFetch(B0);
    page.script(429);
    for (let i = 0; i < 10; i++) await client(URL_);
    assert.equal(client.circuits.get(KEY).status, "closed");
    page.script(503);
    for (let i = 0; i < 3; i++) {
      assert.equal(client.circuits.get(KEY).status, "closed");
      await client(URL_);
    }
    assert.equal(client.circuits.get(KEY).status, "open");
  });

  scenario("B188 a Retry-After holds the next call to that origin back", async (page) => {
    const client = createFetch(B0);
    page.script(hinted(429, "2"), 200);
    await client(URL_);
    const seen = page.see(client(`${KEY}/y`));
    await page.to(5_000);
    resolved(seen, 2_000, 200);
    assert.deepEqual(page.times, [0, 2_000]);
  });

  scenario("B189 a hook that throws at a half-open circuit loses no permit", async (page) => {
    const { client, circuit } = await tripped(page);
    await page.to(1_000);
    const error = new Error("hook");
    const retry = {
      limit: 3,
      shouldRetry: () => true,
      beforeRetry() {
        throw error;
      },
    };
    page.script(404);
    const seen = page.see(client(URL_, { retry }));
    await page.to(1_500);
    assert.equal(seen.error, error);
    await page.to(3_000);
    page.script(200);
    assert.equal((await client(URL_)).status, 200);
    assert.equal(circuit().status, "closed");
    client.dispose();
  });

  scenario("B190 after it has closed the count begins anew", async (page) => {
    const { client, circuit } = await tripped(page);
    await page.to(1_000);
    page.script(200);
    await client(URL_);
    page.script(503);
    for (const expected of ["closed", "closed", "open"]) {
      await client(URL_);
      assert.equal(circuit().status, expected);
    }
    client.dispose();
  });

  scenario("B195 a hundred calls at once, with every other method called meanwhile", async (page) => {
    const client = createFetch(over(D0, { breaker: {} }));
    let n = 0;
    page.script(() => page.sleep((n++ % 7) * 10).then(() => answer(n % 3 ? 200 : 404)));
    const meddle = () => {
      client.getSnapshot();
      client.circuits.getSnapshot();
      client.circuits.reset();
      client.circuits.isolate("https://b.test")();
      client.extend({ retry: false });
      client.subscribe(() => {})();
      const off = () => {};
      client.addEventListener("waiting", off);
      client.removeEventListener("waiting", off);
    };
    const all = Array.from({ length: 100 }, () => page.see(client(URL_, { onState: meddle })));
    await page.to(1_000);
    assert.ok(all.every((seen) => seen.value));
  });
});
