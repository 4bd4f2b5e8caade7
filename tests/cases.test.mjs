// What users of other libraries reported, each as a test of the built package in a page whose time is ours. The ids are
// those of tests/cases.md, which tells where every one of them is tested.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CircuitOpenError, createFetch, isCircuitOpenError, isTimeoutError } from "../pkg/dist/index.js";
import { after, answer, B0, collect, D0, fed, IDS, over, scenario, URL_, wasm } from "./support/cases.mjs";

const { getEventListeners } = await import("node:events");
const listeners = (signal) => getEventListeners(signal, "abort").length;
const KEY = "https://a.test";
const STATUSES = [408, 425, 429, 503];

/** D0 for one call, with a reason to abort it. */
function abortable(page, options = {}) {
  const controller = page.controller();
  const reason = { why: "navigation" };
  return { controller, reason, signal: controller.signal, client: createFetch(over(D0, options)) };
}

/** An error's own promise: rejected at t with this very value. */
function rejected(seen, at, error) {
  assert.deepEqual([seen.rejected, seen.at], [true, at]);
  assert.ok(Object.is(seen.error, error), `it rejected with ${String(seen.error)}`);
}

function timedOut(seen, at, scope) {
  assert.deepEqual([seen.rejected, seen.at], [true, at]);
  assert.ok(isTimeoutError(seen.error), `it rejected with ${String(seen.error)}`);
  assert.equal(seen.error.scope, scope);
}

function resolved(seen, at, status) {
  assert.deepEqual([seen.rejected, seen.at, seen.value?.status], [undefined, at, status]);
}

async function abortDuringWait(page) {
  const { controller, reason, signal, client } = abortable(page);
  const states = [];
  page.script(503);
  const seen = page.see(client(URL_, { signal, onState: (state) => states.push([page.t, state.status]) }));
  page.at(150, () => controller.abort(reason));
  await page.to(2_000);
  rejected(seen, 150, reason);
  assert.deepEqual(page.times, [0, 100]);
  assert.deepEqual(states.at(-1), [150, "cancelled"]);
}

async function abortInFlight(page) {
  const { controller, reason, signal, client } = abortable(page);
  page.script("pend");
  const seen = page.see(client(URL_, { signal }));
  page.at(50, () => {
    controller.abort(reason);
    assert.equal(page.calls[0].signal.aborted, true);
  });
  await page.to(1_000);
  rejected(seen, 50, reason);
  assert.deepEqual(page.times, [0]);
}

async function abortByRequest(page) {
  const { controller, reason, client } = abortable(page);
  const request = new Request(URL_, { signal: controller.signal });
  page.signals.clear(); // the platform's own Request listens to it
  page.signals.add(request.signal);
  page.script(503);
  const seen = page.see(client(request));
  page.at(150, () => controller.abort(reason));
  await page.to(2_000);
  rejected(seen, 150, reason);
  assert.deepEqual(page.times, [0, 100]);
}

describe("who may stop a call, and what it leaves behind", () => {
  scenario("B001 an abort ends a wait", abortDuringWait);

  scenario("B001 a Retry-After of zero is no minimum: the backoff applies", async (page) => {
    page.script(answer(429, { headers: { "Retry-After": "0" } }), 200);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    resolved(seen, 100, 200);
    assert.deepEqual(page.times, [0, 100]);
  });

  scenario("B003 a listener that aborts while it is told of the wait", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    const order = [];
    page.script(503, 200);
    const onState = ({ status }) => {
      order.push(status);
      if (status === "waiting") controller.abort(reason);
    };
    const seen = page.see(client(URL_, { signal, onState }));
    await page.to(0);
    assert.equal(page.timers, 0);
    await page.to(1_000);
    rejected(seen, 0, reason);
    assert.deepEqual(page.times, [0]);
    assert.deepEqual(
      order.filter((status) => status !== "idle"),
      ["loading", "waiting", "cancelled"],
    );
  });

  scenario("B004 an abort in flight is no failure to repeat", abortInFlight);

  for (const [what, make] of [
    ["an AbortError", () => new DOMException("stop", "AbortError")],
    ["an error of another name", () => Object.assign(new Error("stop"), { name: "CanceledError" })],
    ["a string", () => "stop"],
  ]) {
    scenario(`B005 the caller's abort is told by its signal, not by what fetch rejects with: ${what}`, async (page) => {
      const { controller, reason, signal, client } = abortable(page);
      page.script(
        (request) =>
          new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(make()), { once: true })),
      );
      const seen = page.see(client(URL_, { signal }));
      page.at(10, () => controller.abort(reason));
      await page.to(1_000);
      rejected(seen, 10, reason);
      assert.deepEqual(page.times, [0]);
    });
  }

  scenario("B006 no hook is asked after an abort", async (page) => {
    const asked = [];
    const hook = (name) => () => void asked.push(name);
    const retry = { shouldRetry: hook("shouldRetry"), delay: hook("delay"), beforeRetry: hook("beforeRetry") };
    const { controller, reason, signal, client } = abortable(page, { retry });
    page.script("pend");
    const seen = page.see(client(URL_, { signal }));
    page.at(5, () => controller.abort(reason));
    await page.to(1_000);
    rejected(seen, 5, reason);
    assert.deepEqual([asked, page.times], [[], [0]]);
  });

  for (const end of ["resolves", "rejects"]) {
    scenario(`B010 a hook that ${end} after the abort sends nothing`, async (page) => {
      const beforeRetry = async () => {
        await page.sleep(400);
        if (end === "rejects") throw new Error("too late");
      };
      const { controller, reason, signal, client } = abortable(page, { retry: { statusCodes: [401], beforeRetry } });
      page.script(401, 200);
      const seen = page.see(client(URL_, { signal }));
      page.at(200, () => controller.abort(reason));
      await page.to(2_000);
      rejected(seen, 200, reason);
      assert.deepEqual(page.times, [0]);
    });
  }

  scenario("B011 a wait that the server asked for can be aborted", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    page.script(answer(429, { headers: { "Retry-After": "5" } }), 200);
    const seen = page.see(client(URL_, { signal }));
    page.at(20, () => controller.abort(reason));
    await page.to(10_000);
    rejected(seen, 20, reason);
    assert.deepEqual(page.times, [0]);
  });

  const odd = { name: "AbortError" };
  for (const thrown of [odd, null, undefined, 7]) {
    scenario(`B012 ${JSON.stringify(thrown)} from fetch, without an abort, is a network failure`, async (page) => {
      page.script(() => Promise.reject(thrown));
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(1_000);
      rejected(seen, 700, thrown);
      assert.deepEqual(page.times, [0, 100, 300, 700]);
    });
  }

  scenario("B012 an odd rejection of fetch after an abort gives way to the caller's reason", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    page.script(() => {
      controller.abort(reason);
      return Promise.reject(odd);
    });
    const seen = page.see(client(URL_, { signal }));
    await page.to(1_000);
    rejected(seen, 0, reason);
    assert.deepEqual(page.times, [0]);
  });

  for (const given of [[null], [], [undefined]]) {
    scenario(`B014 abort(${given.map(String)}) rejects with the signal's own reason`, async (page) => {
      const { controller, signal, client } = abortable(page);
      page.script("pend");
      const seen = page.see(client(URL_, { signal }));
      page.at(10, () => controller.abort(...given));
      await page.to(100);
      rejected(seen, 10, signal.reason);
      if (given[0] === null) assert.equal(seen.error, null);
      else assert.deepEqual([seen.error.name, seen.error instanceof DOMException], ["AbortError", true]);
    });
  }

  scenario("B019 an abort outlives the controller that made it", async (page) => {
    const signal = (() => {
      const controller = new AbortController();
      controller.abort("stop");
      return controller.signal;
    })();
    await collect();
    page.script(200);
    const seen = page.see(createFetch(D0)(URL_, { signal }));
    await page.to(100);
    rejected(seen, 0, "stop");
    assert.deepEqual(page.times, []);
  });

  for (const [what, body] of Object.entries({ abortDuringWait, abortInFlight, abortByRequest })) {
    scenario(`B019 without AbortSignal.any and AbortSignal.timeout: ${what}`, async (page) => {
      const { any, timeout } = AbortSignal;
      delete AbortSignal.any;
      delete AbortSignal.timeout;
      try {
        await body(page);
      } finally {
        Object.assign(AbortSignal, { any, timeout });
      }
    });
  }

  scenario("B021 a signal that is aborted already: nothing is sent, counted or touched", async (page) => {
    const controller = page.controller();
    const reason = { why: "navigation" };
    controller.abort(reason);
    const client = createFetch(B0);
    const events = [];
    const stream = new ReadableStream();
    page.script(200);
    const init = { method: "POST", body: stream, duplex: "half", signal: controller.signal };
    const seen = page.see(client(URL_, { ...init, onState: ({ status }) => events.push(status) }));
    await page.to(0);
    rejected(seen, 0, reason);
    assert.deepEqual(page.times, []);
    assert.deepEqual(page.delays, []);
    assert.equal(stream.locked, false);
    assert.ok(!events.includes("loading"));
    assert.equal(client.circuits.get(KEY)?.calls ?? 0, 0);
  });

  scenario("B022 the signal inside a Request is heeded", abortByRequest);

  scenario("B025 equal requests are not merged", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    page.script(after(100, 200));
    const [a, b] = [page.see(client(URL_, { signal })), page.see(client(URL_))];
    page.at(50, () => controller.abort(reason));
    await page.to(1_000);
    rejected(a, 50, reason);
    resolved(b, 100, 200);
    assert.deepEqual(page.times, [0, 0]);
  });

  scenario("B026 an abort after all is over changes nothing", async (page) => {
    const { controller, signal, client } = abortable(page);
    const events = [];
    page.script(after(10, 200));
    const text = page.see(client(URL_, { signal, onState: () => events.push(page.t) }).then((it) => it.text()));
    await page.to(20);
    assert.equal(listeners(signal), 0);
    page.at(1_000, () => controller.abort());
    await page.to(2_000);
    assert.equal(text.value, "body 200");
    assert.equal(events.at(-1), 10);
  });

  scenario("B028 an abort after the headers ends the body", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    page.script((request) => Promise.resolve(new Response(fed(request.signal).stream)));
    const response = await client(URL_, { signal });
    assert.equal(listeners(signal), 0);
    const read = page.see(response.text());
    page.at(50, () => controller.abort(reason));
    await page.to(100);
    rejected(read, 50, reason);
  });

  scenario("B030 a signal that lives on keeps no request that is over", async (page) => {
    const { signal, client } = abortable(page);
    let freed = 0;
    const registry = new FinalizationRegistry(() => freed++);
    page.script(200);
    for (let i = 0; i < 100; i++) {
      const body = new Uint8Array(2 ** 20);
      registry.register(body);
      await client(URL_, { method: "POST", body, signal });
    }
    page.script(200);
    await collect();
    assert.ok(freed >= 95, `${freed} of 100`);
    assert.equal(signal.aborted, false);
  });

  for (const [what, options, step] of [
    ["a network error", {}, new TypeError("no")],
    ["an attempt timeout", { timeout: 10, retry: { limit: 0 } }, "pend"],
    ["a total timeout", { totalTimeout: 10 }, "pend"],
    ["an open circuit", B0, 503],
    ["a bad option", { timeout: -1 }, 200],
    [
      "a hook that throws",
      {
        retry: {
          shouldRetry() {
            throw new Error("no");
          },
        },
      },
      503,
    ],
    ["a success", {}, 200],
    ["an exhausted call", {}, 503],
  ]) {
    scenario(`B032 no listener is left by ${what}`, async (page) => {
      const { signal, client } = abortable(page);
      page.script(step);
      const times = options === B0 ? 4 : 1;
      for (let i = 0; i < times; i++) {
        const seen = page.see(client(URL_, { signal, ...over(D0, options) }));
        await page.to(page.t + 1_000);
        assert.notEqual(seen.at, undefined);
        assert.equal(listeners(signal), 0);
      }
    });
  }

  scenario("B033 no timer is left by a success", async (page) => {
    page.script(after(50, 200));
    const text = page.see(createFetch(over(D0, { timeout: 180_000, totalTimeout: 600_000 }))(URL_).then((r) => r.text()));
    await page.to(60);
    assert.equal(text.value, "body 200");
    assert.equal(page.timers, 0);
  });

  scenario("B036 an upload that times out rejects once", async (page) => {
    const body = new FormData();
    body.append("f", new Blob(["abc"]));
    page.script("pend");
    const client = createFetch(over(D0, { timeout: 1, retry: { limit: 0 } }));
    const seen = page.see(client(URL_, { method: "POST", body }));
    await page.to(100);
    timedOut(seen, 1, "attempt");
  });

  for (const end of ["rejects", "resolves"]) {
    scenario(`B037 a fetch that ${end} after the abort is nobody's business`, async (page) => {
      const { controller, reason, signal, client } = abortable(page);
      const body = fed();
      page.script(async () => {
        await page.sleep(30);
        if (end === "rejects") throw new TypeError("too late");
        return new Response(body.stream);
      });
      const seen = page.see(client(URL_, { signal }));
      page.at(10, () => controller.abort(reason));
      await page.to(100);
      rejected(seen, 10, reason);
      if (end === "resolves") assert.equal(body.cancelled, 1);
    });
  }

  for (const how of ["total timeout", "dispose", "abort"]) {
    scenario(`B199 a call that is ended by ${how} aborts its request in the same turn`, async (page) => {
      const { controller, signal, client } = abortable(page, how === "total timeout" ? { totalTimeout: 50 } : {});
      page.script("pend");
      const seen = page.see(client(URL_, { signal }));
      let aborted;
      await page.to(0);
      page.calls[0].signal.addEventListener("abort", () => {
        aborted = page.t;
      });
      if (how !== "total timeout") {
        page.at(50, () => {
          if (how === "abort") controller.abort();
          else client.dispose();
          assert.equal(aborted, 50);
        });
      }
      await page.to(100);
      assert.deepEqual([aborted, seen.at, seen.rejected], [50, 50, true]);
    });
  }

  for (const order of ["abort first", "timer first"]) {
    scenario(`B193 an abort in the turn in which the wait is due: ${order}`, async (page) => {
      const { controller, reason, signal, client } = abortable(page);
      page.script(503, "pend");
      const abort = () => page.at(100, () => controller.abort(reason));
      if (order === "abort first") abort();
      const seen = page.see(client(URL_, { signal }));
      await page.to(0);
      if (order !== "abort first") abort();
      await page.to(500);
      rejected(seen, 100, reason);
      assert.deepEqual(page.times, order === "abort first" ? [0] : [0, 100]);
    });
  }

  scenario("B193 a timer that is delivered although it was cleared does nothing", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    page.deliversCleared = true;
    page.script(503, 200);
    const seen = page.see(client(URL_, { signal }));
    page.at(50, () => controller.abort(reason));
    await page.to(500);
    rejected(seen, 50, reason);
    assert.deepEqual(page.times, [0]);
  });

  scenario("B205 a listener that runs inside the timer's callback aborts the call and disposes the client", async (page) => {
    const { controller, reason, signal, client } = abortable(page);
    let ended = 0;
    client.addEventListener("disposed", () => ended++);
    page.script(503, "pend");
    const onState = ({ status, attempt }) => {
      if (status !== "loading" || attempt !== 2) return;
      controller.abort(reason);
      client.dispose();
    };
    const seen = page.see(client(URL_, { signal, onState }));
    await page.to(500);
    rejected(seen, 100, reason);
    assert.equal(ended, 1);
    const late = page.see(client(URL_));
    await page.to(600);
    assert.equal(late.error.name, "InvalidStateError");
  });
});

describe("time limits", () => {
  scenario('B015 a body that stalls rejects with our TimeoutError, with covers: "body"', async (page) => {
    let reason;
    page.script((request) => {
      const body = fed(request.signal);
      request.signal.addEventListener("abort", () => {
        reason = request.signal.reason;
      });
      return page.sleep(100).then(() => new Response(body.stream));
    });
    const seen = page.see(createFetch(over(D0, { timeout: 1_000, covers: "body", retry: { limit: 0 } }))(URL_));
    await page.to(5_000);
    timedOut(seen, 1_000, "attempt");
    assert.equal(seen.error, reason);
  });

  scenario("B016 our own timer makes it a timeout, whatever fetch rejects with", async (page) => {
    page.script(
      (request) =>
        new Promise((_, reject) =>
          request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        ),
    );
    const seen = page.see(createFetch(over(D0, { timeout: 100, retry: { limit: 1 } }))(URL_));
    await page.to(1_000);
    timedOut(seen, 300, "attempt");
    assert.deepEqual(page.times, [0, 200]);
  });

  const dripping = (page) => (request) => {
    const body = fed(request.signal);
    let on = true;
    request.signal.addEventListener("abort", () => {
      on = false;
    });
    const drip = () => {
      if (!on || page.t > 6_000) return;
      body.push("x");
      page.at(page.t + 400, drip);
    };
    return page.sleep(500).then(() => {
      drip();
      return new Response(body.stream);
    });
  };

  scenario('B058 the attempt timer ends a body that drips, with covers: "body"', async (page) => {
    page.script(dripping(page));
    const seen = page.see(createFetch(over(D0, { timeout: 800, covers: "body", retry: { limit: 0 } }))(URL_));
    await page.to(5_000);
    timedOut(seen, 800, "attempt");
    assert.deepEqual(page.times, [0]);
  });

  scenario('B058 with covers: "headers", the default, a body may drip', async (page) => {
    page.script(dripping(page));
    const response = page.see(createFetch(over(D0, { timeout: 800 }))(URL_));
    await page.to(500);
    resolved(response, 500, 200);
    const read = page.see(response.value.text());
    await page.to(5_000);
    assert.equal(read.at, undefined);
    assert.deepEqual(page.times, [0]);
    await response.value.body?.cancel?.().catch(() => {});
  });

  scenario("B059 a body that breaks after the headers rejects its reader and is not asked for again", async (page) => {
    const broken = new TypeError("broken");
    const body = fed();
    page.script(() => page.sleep(10).then(() => new Response(body.stream)));
    page.at(100, () => body.fail(broken));
    const read = page.see(createFetch(over(D0, { totalTimeout: 3_000 }))(URL_).then((response) => response.text()));
    await page.to(5_000);
    rejected(read, 100, broken);
    assert.deepEqual(page.times, [0]);
  });

  scenario('B059 a body that stalls ends with the total limit, with covers: "body"', async (page) => {
    page.script((request) => page.sleep(10).then(() => new Response(fed(request.signal).stream)));
    const seen = page.see(createFetch(over(D0, { totalTimeout: 3_000, covers: "body" }))(URL_));
    await page.to(5_000);
    timedOut(seen, 3_000, "total");
    assert.deepEqual(page.times, [0]);
  });

  for (const [what, step] of [
    ["an answer", 503],
    ["an error", new TypeError("lost")],
  ]) {
    scenario(`B073 the total limit counts attempts and waits: ${what}`, async (page) => {
      page.script(after(400, step));
      const call = createFetch(over(D0, { totalTimeout: 1_000 })).start(URL_);
      const seen = page.see(call.response);
      await page.to(3_000);
      assert.deepEqual(page.times, [0, 500]);
      assert.deepEqual([call.state.status, call.state.reason], ["exhausted", "total-timeout"]);
      if (step === 503) resolved(seen, 900, 503);
      else rejected(seen, 900, step);
    });
  }

  scenario("B074 the total limit ends a running attempt", async (page) => {
    let aborted;
    page.script((request) => {
      request.signal.addEventListener("abort", () => {
        aborted = page.t;
      });
      return new Promise((resolve, reject) => {
        page.at(1_500, () => resolve(answer(200)));
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    });
    const seen = page.see(createFetch(over(D0, { totalTimeout: 500 }))(URL_));
    await page.to(2_000);
    timedOut(seen, 500, "total");
    assert.equal(aborted, 500);
  });

  scenario("B075 an attempt may begin while any time is left, and ends with the total limit", async (page) => {
    const waits = [400, 450];
    page.script(503, 503, "pend");
    const seen = page.see(createFetch(over(D0, { totalTimeout: 1_000, retry: { delay: () => waits.shift() } }))(URL_));
    await page.to(3_000);
    assert.deepEqual(page.times, [0, 400, 850]);
    timedOut(seen, 1_000, "total");
  });

  for (const [retryOnTimeout, attempts] of [
    [false, 1],
    [true, 4],
  ]) {
    scenario(`B076 retryOnTimeout: ${retryOnTimeout} means ${attempts} attempts, whatever the statuses`, async (page) => {
      page.script("pend");
      const retry = { statusCodes: [503], retryOnTimeout };
      const seen = page.see(createFetch(over(D0, { timeout: 100, retry }))(URL_));
      await page.to(5_000);
      assert.equal(page.calls.length, attempts);
      timedOut(seen, attempts === 1 ? 100 : 1_100, "attempt");
    });
  }

  scenario("B077 an attempt that timed out is retried", async (page) => {
    page.script("pend", 200);
    const seen = page.see(createFetch(over(D0, { timeout: 100, retry: { limit: 1 } }))(URL_));
    await page.to(1_000);
    resolved(seen, 200, 200);
    assert.deepEqual(page.times, [0, 200]);
  });

  scenario("B114 timers that come late make no wait shorter and no attempt later than the limit", async (page) => {
    page.stretch = (ms) => Math.ceil((page.t + ms) / 1_000) * 1_000 - page.t;
    page.script(503);
    const client = createFetch(over(D0, { timeout: 1_500, totalTimeout: 2_500 }));
    const seen = page.see(client(URL_));
    await page.to(10_000);
    assert.ok(page.times.every((t) => t < 2_500), page.times.join());
    assert.ok(page.times.every((t, i) => i === 0 || t - page.times[i - 1] >= 100 * 2 ** (i - 1)));
    assert.notEqual(seen.at, undefined);
  });
});
