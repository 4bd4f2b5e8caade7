// What a user interface is told.

import assert from "node:assert/strict";
import { fact } from "./fact.mjs";

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

  fact("a countdown shows each whole second once", {
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
      assert.deepEqual(
        shown.filter((second) => second > 0),
        [3, 2, 1],
      );
      assert.equal(waits, 1);
      assert.deepEqual(wait, [2_500, "backoff", 503]);
      assert.ok(server.hits("/x")[1].at - server.hits("/x")[0].answeredAt >= 2_499);
    },
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
