// What a user interface is told.

import assert from "node:assert/strict";
import { fact, facts } from "./fact.mjs";

export const states = [
  fact("subscribe tells the states in their order, the present one at once", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`);
      const seen = [];
      const leave = call.subscribe((state) => seen.push(state));
      const atOnce = seen.length === 1 && seen[0] === call.state;
      await call;
      leave();
      return {
        atOnce,
        seen: seen.map((state) => state.status),
        frozen: seen.every(Object.isFrozen),
        last: seen.at(-1) === call.getSnapshot(),
      };
    },
    check: ({ seen, ...value }) => {
      assert.deepEqual(value, { atOnce: true, frozen: true, last: true });
      const distinct = seen.filter((status, i) => status !== "idle" && status !== seen[i - 1]);
      assert.deepEqual(distinct, ["loading", "waiting", "loading", "success"]);
    },
  }),

  fact("onState is told as well, for the promise form", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const seen = [];
      await createFetch({ retry: quick })(`${url}/x`, { onState: (state) => seen.push(state.status) });
      return seen;
    },
    check: (seen) =>
      assert.deepEqual(
        seen.filter((status, i) => status !== "idle" && status !== seen[i - 1]),
        ["loading", "waiting", "loading", "success"],
      ),
  }),

  fact("a call can be iterated, and its iteration ends when it settles", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const seen = [];
      for await (const state of createFetch({ retry: quick }).start(`${url}/x`)) seen.push(state.status);
      return seen.at(-1);
    },
    check: (last) => assert.equal(last, "success"),
  }),

  fact("to leave the iteration of a call ends a reading that waits for the next state", {
    steps: { "/x": [{ delay: 200, status: 200 }] },
    act: async ({ createFetch, url }) => {
      const call = createFetch().start(`${url}/x`);
      const states = call[Symbol.asyncIterator]();
      const first = (await states.next()).value.status;
      const next = [states.next(), states.next()];
      await states.return();
      const ends = await Promise.all(next);
      const { status } = await call;
      return [first, ...ends, await states.next(), status];
    },
    check: (seen) => {
      const end = { done: true };
      assert.deepEqual(JSON.parse(JSON.stringify(seen)), ["loading", end, end, end, 200]);
    },
  }),

  // That it shows every second is tested where time is ours; here a slow machine may skip one.
  fact("a countdown shows whole seconds downwards, each at most once", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url }) => {
      const call = createFetch({ retry: { delay: 2_500, jitter: "none" } }).start(`${url}/x`);
      const shown = [];
      const waits = [];
      call.subscribe((state) => {
        if (state.status !== "waiting") return;
        shown.push(Math.ceil(state.remaining / 1_000));
        waits.push([state.retryAt, state.delay, state.source, state.cause.status]);
      });
      await call;
      return { shown, waits: new Set(waits.map(String)).size, wait: waits[0].slice(1) };
    },
    check: ({ shown, waits, wait }, server) => {
      const left = [3, 2, 1].filter((second) => shown.includes(second));
      assert.equal(shown[0], 3);
      assert.deepEqual(shown, left);
      assert.equal(waits, 1);
      assert.deepEqual(wait, [2_500, "backoff", 503]);
      assert.ok(server.hits("/x")[1].at - server.hits("/x")[0].answeredAt >= 2_499);
    },
  }),

  fact("beforeRetry sees what became of the attempt before, each time", {
    steps: { "/x": [{ status: 503, body: "busy", close: true }, "reset-headers", 502, 200] },
    act: async ({ createFetch, url, quick }) => {
      const seen = [];
      const beforeRetry = ({ attempt, response, error, delay }) => {
        seen.push([attempt, response?.status, error instanceof TypeError, delay]);
      };
      await createFetch({ retry: { ...quick, beforeRetry } })(`${url}/x`);
      return JSON.parse(JSON.stringify(seen.map(([attempt, status, failed]) => [attempt, status ?? null, failed])));
    },
    check: (seen) =>
      assert.deepEqual(seen, [
        [1, 503, false],
        [2, null, true],
        [3, 502, false],
      ]),
  }),

  fact("beforeRetry may make the next request from what it is given, body and all", {
    steps: { "/x": [401, 503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const retry = {
        ...quick,
        shouldRetry: () => true,
        beforeRetry: ({ request, attempt }) =>
          new Request(request, { headers: { authorization: `token ${attempt}`, "content-type": "text/plain" } }),
      };
      return (await createFetch({ retry })(`${url}/x`, { method: "PUT", body: "the body" })).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual(
        server.hits("/x").map((hit) => [hit.headers.authorization, hit.text]),
        [
          [undefined, "the body"],
          ["token 1", "the body"],
          ["token 2", "the body"],
        ],
      );
    },
  }),

  fact("every state of the run after a held one carries its number", {
    steps: { "/x": [503, 503, 200] },
    act: async ({ createFetch, url, quick, reached }) => {
      const call = createFetch({ retry: { ...quick, limit: 1 }, onExhausted: "hold" }).start(`${url}/x`);
      await reached(call, "exhausted");
      const runs = [];
      call.subscribe((state) => runs.push([state.run, state.status]));
      await call.retry();
      return runs;
    },
    check: (runs) =>
      assert.deepEqual(runs, [
        [1, "exhausted"],
        [2, "loading"],
        [2, "success"],
      ]),
  }),

  fact("the client counts what is under way", {
    steps: { "/wait": [503, 200], "/stall": "stall" },
    act: async ({ createFetch, url, reached, thrown }) => {
      const client = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } });
      const waiting = client.start(`${url}/wait`);
      const { retryAt } = await reached(waiting, "waiting");
      const loading = client.start(`${url}/stall`);
      const during = client.getSnapshot();
      const same = during === client.getSnapshot();
      waiting.retryNow();
      await waiting;
      loading.cancel();
      await thrown(loading);
      const after = client.getSnapshot();
      return {
        during: [during.loading, during.waiting, during.nextRetryAt === retryAt],
        same,
        after: [after.loading, after.waiting, after.nextRetryAt],
        online: after.online,
      };
    },
    check: (value) => assert.deepEqual(value, { during: [1, 1, true], same: true, after: [0, 0, null], online: true }),
  }),

  fact("the client's events tell of every call", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const client = createFetch({ retry: quick });
      const seen = [];
      client.addEventListener("statechange", ({ detail }) => seen.push(detail.state.status));
      const waits = [];
      client.addEventListener("waiting", ({ detail }) =>
        waits.push([detail.method, detail.url, detail.from, detail.state.status]),
      );
      await client(`${url}/x`);
      return { seen, waits: waits[0] };
    },
    check: ({ seen, waits }, server) => {
      assert.deepEqual(
        seen.filter((status, i) => status !== "idle" && status !== seen[i - 1]),
        ["loading", "waiting", "loading", "success"],
      );
      assert.deepEqual(waits, ["GET", `${server.url}/x`, "loading", "waiting"]);
    },
  }),

  fact("an event has the call to act on, also of a plain fetch", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url }) => {
      const client = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } });
      const calls = new Set();
      client.addEventListener("statechange", ({ detail }) => calls.add(detail.call));
      client.addEventListener("waiting", ({ detail }) => detail.call.retryNow());
      const response = await client(`${url}/x`);
      const [call] = calls;
      const same = call.state.response === response && (await call.response) === response;
      const again = await call.retry();
      return [response.status, calls.size, same, again.status, call.state.run];
    },
    check: (value) => assert.deepEqual(value, [200, 1, true, 200, 2]),
  }),

  fact("what start() returns is the call of its events", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url }) => {
      const client = createFetch();
      const calls = new Set();
      client.addEventListener("statechange", ({ detail }) => calls.add(detail.call));
      const call = client.start(`${url}/x`);
      await call;
      return [...calls].map((other) => other === call);
    },
    check: (value) => assert.deepEqual(value, [true]),
  }),

  ...facts(
    [true, false],
    (on) => `trace: ${on} ${on ? "shows" : "leaves no"} attempts and waits in the performance time line`,
    {
      steps: { "/x": [503, 200] },
      act: async ({ createFetch, url, quick }, trace) => {
        const client = createFetch({ trace, retry: quick });
        await client(`${url}/x?token=secret`);
        const entries = performance.getEntries().filter(({ name }) => name.includes(`${url}/x`));
        const told = (type) => entries.filter((entry) => entry.entryType === type).map(({ name }) => name);
        return {
          trace,
          measures: told("measure"),
          marks: told("mark"),
          lasts: entries.every(({ duration }) => duration >= 0),
        };
      },
      check: ({ trace, measures, marks, lasts }, server) => {
        const names = (...texts) => (trace ? texts.map((text) => `#1 GET ${server.url}/x ${text}`) : []);
        assert.deepEqual(measures, names("loading 1", "waiting 1", "loading 2"));
        assert.deepEqual(marks, names("loading 1", "waiting 1", "loading 2", "success 2"));
        assert.ok(lasts);
      },
    },
  ),

  fact("the client may be called from within a listener (B195)", {
    steps: { "/x": [503, 200], "/y": { body: "from within" } },
    act: async ({ createFetch, url, quick }) => {
      const client = createFetch({ retry: quick });
      let inner;
      const response = await client(`${url}/x`, {
        onState: (state) => {
          if (state.status === "waiting") inner ??= client(`${url}/y`).then((answer) => answer.text());
        },
      });
      return [response.status, await inner];
    },
    check: (value) => assert.deepEqual(value, [200, "from within"]),
  }),
];
