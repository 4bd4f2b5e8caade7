// Who may stop a call, and what it leaves behind.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { createFetch } from "../pkg/dist/index.js";
import { after, answer, B0, collect, D0, fed, over, scenario, URL_ } from "./support/cases.mjs";
import { abortable, KEY, listeners, rejected, resolved, timedOut } from "./support/cases-shared.mjs";

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

  for (const [what, options, step] of [
    ["offline", {}, 200],
    ["in the queue of an open circuit", { ...B0, onCircuitOpen: "wait" }, 503],
  ]) {
    scenario(`B011 a call can be aborted while it is ${what}`, async (page) => {
      const { controller, reason, signal, client } = abortable(page, options);
      page.script(step);
      page.online = what !== "offline";
      if (page.online) for (let i = 0; i < 3; i++) await client(URL_);
      const sent = page.calls.length;
      const call = client.start(URL_, { signal });
      const seen = page.see(call.response);
      await page.to(0);
      assert.equal(call.state.status, page.online ? "circuit-open" : "offline");
      page.at(20, () => controller.abort(reason));
      await page.to(50);
      rejected(seen, 20, reason);
      page.online = true;
      globalThis.dispatchEvent(new Event("online"));
      await page.to(100_000);
      assert.equal(page.calls.length, sent);
    });
  }

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

  for (const without of [false, true]) {
    scenario(
      `B030 a signal that lives on keeps no request that is over${without ? ", without AbortSignal.any" : ""}`,
      async (page) => {
        const { any } = AbortSignal;
        if (without) delete AbortSignal.any;
        try {
          const { signal, client } = abortable(page);
          let freed = 0;
          const registry = new FinalizationRegistry(() => freed++);
          page.script(200);
          for (let i = 0; i < 100; i++) {
            const body = new Uint8Array(2 ** 16);
            registry.register(body);
            await (await client(URL_, { method: "POST", body, signal })).text();
          }
          page.script(200);
          await collect();
          assert.ok(freed >= 95, `${freed} of 100`);
          assert.equal(signal.aborted, false);
        } finally {
          AbortSignal.any = any;
        }
      },
    );
  }

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
    const text = page.see(
      createFetch(over(D0, { timeout: 180_000, totalTimeout: 600_000 }))(URL_).then((r) => r.text()),
    );
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

  for (const [what, init] of [
    ["no body", {}],
    ["a body", { method: "PUT", body: "b" }],
    ["a factory", { method: "PUT", body: () => "b" }],
  ]) {
    scenario(`a hook is given the request and the signal of its attempt: ${what}`, async (page) => {
      const seen = [];
      const look = ({ attempt, request, signal }) => {
        seen.push([attempt, signal === request.signal, signal.aborted]);
        return undefined;
      };
      const hooks = { shouldRetry: look, beforeRetry: look };
      page.script("pend", 503, 503, 200);
      const done = page.see(createFetch(over(D0, { timeout: 50, retry: hooks }))(URL_, init));
      await page.to(2_000);
      assert.equal(done.value?.status, 200);
      // The first ran into its limit; the others did not, nor do those that are only prepared.
      assert.deepEqual(seen, [
        [1, true, true],
        [1, true, false],
        [2, true, false],
        [2, true, false],
        [3, true, false],
        [3, true, false],
      ]);
    });
  }

  scenario("the signal of a request that beforeRetry made counts as the caller's", async (page) => {
    const late = new AbortController();
    const reason = { late: true };
    const beforeRetry = ({ request }) => new Request(request, { signal: late.signal });
    const client = createFetch(over(D0, { retry: { beforeRetry } }));
    page.script(503, 503, "pend");
    const seen = page.see(client(URL_, { signal: page.controller().signal }));
    page.at(350, () => late.abort(reason));
    await page.to(1_000);
    rejected(seen, 350, reason);
    assert.deepEqual(page.times, [0, 100, 300]);
    assert.equal(listeners(late.signal), 0);

    page.script(503, 200);
    const never = page.see(client(URL_));
    await page.to(2_000);
    rejected(never, 1_100, reason);
    assert.equal(page.calls.length, 1);
  });

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

  scenario(
    "B205 a listener that runs inside the timer's callback aborts the call and disposes the client",
    async (page) => {
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
      assert.deepEqual([seen.at, seen.rejected], [100, true]);
      assert.equal(ended, 1);
      const late = page.see(client(URL_));
      await page.to(600);
      assert.equal(late.error.name, "InvalidStateError");
    },
  );

  for (const then of ["dispose", "cancel"]) {
    scenario(`B205 the first of two reasons given inside a listener stands: abort, then ${then}`, async (page) => {
      const { controller, reason, signal, client } = abortable(page);
      page.script(503, "pend");
      const call = client.start(URL_, { signal });
      const seen = page.see(call.response);
      call.subscribe(({ status, attempt }) => {
        if (status !== "loading" || attempt !== 2) return;
        controller.abort(reason);
        if (then === "dispose") client.dispose();
        else call.cancel("too late");
      });
      await page.to(500);
      rejected(seen, 100, reason);
    });
  }
});
