// Who may stop a call, when, and what the caller gets for it.

import assert from "node:assert/strict";
import { fact, facts } from "./fact.mjs";

/** A wait that no test has the time for: whoever sees its end was let out of it. */
const LONG = { delay: 60_000, backoffLimit: 60_000, jitter: "none" };

const reasons = {
  "an object": { why: "navigation" },
  null: null,
  "none given": undefined,
};

export const aborts = [
  ...facts(
    ["init", "Request"],
    (where) => `an aborted signal in the ${where}: rejects with its reason and sends nothing (B021, B022)`,
    {
      steps: { "/x": 200 },
      act: async ({ createFetch, url, thrown, sleep }, where) => {
        const reason = { why: "navigation" };
        const signal = AbortSignal.abort(reason);
        const client = createFetch();
        const error = await thrown(
          where === "init" ? client(`${url}/x`, { signal }) : client(new Request(`${url}/x`, { signal })),
        );
        await sleep(50);
        return [error === reason, client.getSnapshot().loading];
      },
      check: (value, server) => {
        assert.deepEqual(value, [true, 0]);
        assert.equal(server.hits("/x").length, 0);
      },
    },
  ),

  ...facts(
    Object.entries(reasons),
    ([name]) =>
      `an abort during a wait rejects with the very reason, long before the wait is over: ${name} (B011, B014)`,
    {
      steps: { "/x": { status: 503, retryAfter: 30 } },
      act: async ({ createFetch, url, quick, thrown, reached, sleep }, [, given]) => {
        const controller = new AbortController();
        const call = createFetch({ retry: quick }).start(`${url}/x`, { signal: controller.signal });
        await reached(call, "waiting");
        const began = performance.now();
        controller.abort(given);
        const error = await thrown(call);
        const took = performance.now() - began;
        await sleep(100);
        return {
          same: error === controller.signal.reason,
          took,
          status: call.state.status,
          told: call.state.reason === controller.signal.reason,
        };
      },
      check: ({ took, ...value }, server) => {
        assert.deepEqual(value, { same: true, status: "cancelled", told: true });
        assert.ok(took < 10_000, `${took} ms`);
        assert.equal(server.hits("/x").length, 1);
      },
    },
  ),

  ...facts(
    ["init", "Request"],
    (where) =>
      `an abort during an attempt, by the signal in the ${where}, rejects with the very reason and closes the connection (B004, B199)`,
    {
      steps: { "/x": "stall" },
      act: async ({ createFetch, url, quick, thrown, hits, until }, where) => {
        const controller = new AbortController();
        const { signal } = controller;
        const client = createFetch({ retry: quick });
        const call =
          where === "init" ? client.start(`${url}/x`, { signal }) : client.start(new Request(`${url}/x`, { signal }));
        await until(async () => (await hits("/x")).length === 1);
        const reason = { why: "navigation" };
        controller.abort(reason);
        const error = await thrown(call);
        await until(async () => (await hits("/x"))[0].aborted);
        return [error === reason, call.state.status, call.state.failures.length];
      },
      check: (value, server) => {
        assert.deepEqual(value, [true, "cancelled", 0]);
        assert.equal(server.hits("/x").length, 1);
      },
    },
  ),

  fact("an abort after the headers still ends the body and closes the connection", {
    steps: { "/x": "stall-body" },
    act: async ({ createFetch, url, quick, thrown, hits, until }) => {
      const controller = new AbortController();
      const response = await createFetch({ retry: quick })(`${url}/x`, { signal: controller.signal });
      const read = thrown(response.text());
      controller.abort();
      const error = await read;
      await until(async () => (await hits("/x"))[0].aborted);
      return [response.status, error.name];
    },
    check: (value, server) => {
      assert.deepEqual(value, [200, "AbortError"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("an abort after all is read changes nothing (B026)", {
    steps: { "/x": { body: "hello" } },
    act: async ({ createFetch, url, sleep }) => {
      const controller = new AbortController();
      const call = createFetch().start(`${url}/x`, { signal: controller.signal });
      const text = await (await call).text();
      controller.abort();
      await sleep(50);
      return [text, call.state.status, (await call).status];
    },
    check: (value) => assert.deepEqual(value, ["hello", "success", 200]),
  }),

  fact("the caller's own AbortSignal.timeout is a cancel, not an attempt to repeat", {
    steps: { "/x": "stall" },
    act: async ({ createFetch, url, quick, thrown, sleep }) => {
      const signal = AbortSignal.timeout(3_000);
      const error = await thrown(createFetch({ retry: quick })(`${url}/x`, { signal }));
      await sleep(100);
      return [error === signal.reason, error.name];
    },
    check: (value, server) => {
      assert.deepEqual(value, [true, "TimeoutError"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("an abort from within a hook that runs before the first attempt is heeded, and nothing is sent", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url, thrown, sleep }) => {
      const errors = [];
      for (const hook of ["key", "idempotencyKey"]) {
        const ac = new AbortController();
        const abort = () => {
          ac.abort("R");
          return "k";
        };
        const options = hook === "key" ? { breaker: { key: abort } } : { idempotencyKey: abort };
        errors.push(await thrown(createFetch(options)(`${url}/x`, { signal: ac.signal, method: "PUT" })));
        const dispose = () => {
          client.dispose();
          return "k";
        };
        const client = createFetch({ breaker: { key: dispose } });
        errors.push((await thrown(client(`${url}/x`))).name);
      }
      await sleep(50);
      return errors;
    },
    check: (errors, server) => {
      assert.deepEqual(errors, ["R", "AbortError", "R", "AbortError"]);
      assert.equal(server.hits("/x").length, 0);
    },
  }),

  fact("no hook runs after a listener has given the call up", {
    steps: { "/x": 503 },
    act: async ({ createFetch, url, quick, thrown }) => {
      const ac = new AbortController();
      let asked = 0;
      const client = createFetch({ retry: { ...quick, beforeRetry: () => void asked++ } });
      const onState = (state) => state.status === "loading" && state.attempt === 2 && ac.abort("R");
      return [await thrown(client(`${url}/x`, { signal: ac.signal, onState })), asked];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["R", 0]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("an abort from within beforeRetry is heeded (B003)", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick, thrown, sleep }) => {
      const controller = new AbortController();
      const reason = { why: "navigation" };
      const client = createFetch({ retry: { ...quick, beforeRetry: () => controller.abort(reason) } });
      const error = await thrown(client(`${url}/x`, { signal: controller.signal }));
      await sleep(100);
      return error === reason;
    },
    check: (same, server) => {
      assert.equal(same, true);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  ...facts(["stall", "wait"], (when) => `cancel(reason) ends a call and rejects with that reason: ${when}`, {
    steps: { "/stall": "stall", "/wait": 503 },
    act: async ({ createFetch, url, thrown, reached, hits, until, sleep }, when) => {
      const call = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } }).start(
        `${url}/${when}`,
      );
      if (when === "wait") await reached(call, "waiting");
      else await until(async () => (await hits("/stall")).length === 1);
      const reason = { why: "the button" };
      call.cancel(reason);
      call.cancel("too late");
      const error = await thrown(call);
      if (when === "stall") await until(async () => (await hits("/stall"))[0].aborted);
      await sleep(50);
      return {
        same: error === reason,
        status: call.state.status,
        told: call.state.reason === reason,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, { same: true, status: "cancelled", told: true });
      assert.equal(server.hits("/stall").length + server.hits("/wait").length, 1);
    },
  }),

  fact("retryNow() ends a wait", {
    steps: { "/x": [503, 200] },
    input: LONG,
    act: async ({ createFetch, url, reached }, retry) => {
      const call = createFetch({ retry }).start(`${url}/x`);
      await reached(call, "waiting");
      return [call.retryNow(), (await call).status, call.state.attempt, call.retryNow()];
    },
    check: (value, server) => {
      assert.deepEqual(value, [true, 200, 2, false]);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("retry() after exhaustion runs again on the same server, though this very call opened the circuit", {
    steps: { "/x": [503, 503, 503, 503, 503, { body: "at last" }] },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`);
      const first = await call;
      const { status } = call.state;
      const second = await call.retry();
      return {
        first: first.status,
        status,
        second: await second.text(),
        after: call.state.status,
        run: call.state.run,
        attempt: call.state.attempt,
        failures: call.state.failures.length,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, {
        first: 503,
        status: "exhausted",
        second: "at last",
        after: "success",
        run: 2,
        attempt: 1,
        failures: 5,
      });
      assert.equal(server.hits("/x").length, 6);
    },
  }),

  fact("a further run carries the same Idempotency-Key", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url }) => {
      const call = createFetch({ retry: false, idempotencyKey: "auto" }).start(`${url}/x`, {
        method: "POST",
        body: "b",
      });
      await call;
      return (await call.retry()).status;
    },
    check: (status, server) => {
      const keys = server.hits("/x").map((hit) => hit.headers["idempotency-key"]);
      assert.equal(status, 200);
      assert.equal(keys.length, 2);
      assert.ok(keys[0] && keys[0] === keys[1]);
    },
  }),

  fact('onExhausted: "hold" keeps the promise pending until retry()', {
    steps: { "/x": [503, 503, { body: "at last" }] },
    act: async ({ createFetch, url, quick, reached, sleep }) => {
      const call = createFetch({ retry: { ...quick, limit: 1 }, onExhausted: "hold" }).start(`${url}/x`);
      const { held } = await reached(call, "exhausted");
      const pending = (await Promise.race([call, sleep(100)])) === undefined;
      call.retry();
      return [held, pending, await (await call).text(), call.state.run];
    },
    check: (value, server) => {
      assert.deepEqual(value, [true, true, "at last", 2]);
      assert.equal(server.hits("/x").length, 3);
    },
  }),

  fact("dispose() cancels what is pending, and what is asked for afterwards rejects", {
    steps: { "/wait": 503, "/stall": "stall", "/x": 200 },
    input: LONG,
    act: async ({ createFetch, url, thrown, told, reached, hits, until, sleep }, retry) => {
      const client = createFetch({ retry });
      const calls = [client.start(`${url}/wait`), client.start(`${url}/stall`)];
      await reached(calls[0], "waiting");
      await until(async () => (await hits("/stall")).length === 1);
      client.dispose();
      for (const call of calls) await thrown(call);
      await until(async () => (await hits("/stall"))[0].aborted);
      const late = told(await thrown(client(`${url}/x`)));
      client.dispose();
      await sleep(50);
      return { states: calls.map((call) => call.state.status), late: late.isError };
    },
    check: (value, server) => {
      assert.deepEqual(value, { states: ["cancelled", "cancelled"], late: true });
      assert.deepEqual([server.hits("/wait").length, server.hits("/x").length], [1, 0]);
    },
  }),

  fact("leaving the scope of a call cancels it", {
    steps: { "/x": 503 },
    input: LONG,
    act: async ({ createFetch, url, thrown, reached }, retry) => {
      const call = createFetch({ retry }).start(`${url}/x`);
      await reached(call, "waiting");
      call[Symbol.dispose]();
      await thrown(call);
      return call.state.status;
    },
    check: (status, server) => {
      assert.equal(status, "cancelled");
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("no settled call leaves a listener on the caller's signal (B028, B032)", {
    only: "node", // which can count them
    steps: { "/good": 200, "/bad": 503, "/reset": "refuse", "/body": "reset-body" },
    act: async ({ createFetch, url, quick, thrown, reached, closedUrl }) => {
      const { getEventListeners } = await import("node:events");
      const { signal } = new AbortController();
      const client = createFetch({ retry: { ...quick, limit: 1 }, breaker: false, budget: false });
      for (let i = 0; i < 20; i++) await (await client(`${url}/good`, { signal })).text();
      await (await client(`${url}/bad`, { signal })).text();
      await thrown((await client(`${url}/body`, { signal })).text());
      await thrown(client(`${url}/reset`, { signal }));
      await thrown(client(closedUrl, { signal }));
      await thrown(client(`${url}/good`, { signal, timeout: -1 }));
      const call = client.start(`${url}/bad`, {
        signal,
        retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" },
      });
      await reached(call, "waiting");
      call.cancel();
      await thrown(call);
      return getEventListeners(signal, "abort").length;
    },
    check: (left) => assert.equal(left, 0),
  }),

  fact("one signal that ends a whole queue of calls sets no timer for each of them", {
    act: async ({ createFetch, url, origin }) => {
      const client = createFetch({ onCircuitOpen: "wait" });
      client.circuits.isolate(origin);
      const controller = new AbortController();
      const { signal } = controller;
      const calls = Array.from({ length: 1_000 }, () => client(`${url}/x`, { signal }).catch(() => "rejected"));
      const { setTimeout } = globalThis;
      let set = 0;
      globalThis.setTimeout = (...timer) => {
        set++;
        return setTimeout(...timer);
      };
      controller.abort();
      globalThis.setTimeout = setTimeout;
      const ends = await Promise.all(calls);
      return { set, rejected: ends.filter((end) => end === "rejected").length };
    },
    check: ({ set, rejected }) => {
      assert.equal(rejected, 1_000);
      assert.ok(set <= 2, `${set} timers`);
    },
  }),

  fact("a failed call that nobody looks at is no unhandled rejection", {
    act: async ({ createFetch, closedUrl, quick, until, sleep }) => {
      const call = createFetch({ retry: { ...quick, limit: 1 } }).start(closedUrl);
      await until(() => call.state.status === "exhausted");
      await sleep(50);
      return call.state.failures.length;
    },
    check: (failures) => assert.equal(failures, 2), // an unhandled rejection fails the harness
  }),
];
