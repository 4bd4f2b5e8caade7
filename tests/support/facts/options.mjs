// Options that make no sense, and those that are looked up late.

import assert from "node:assert/strict";
import { fact } from "./fact.mjs";

/** Each with the path that the error has to name. */
const BAD = [
  ["retry.limit", { retry: { limit: -1 } }],
  ["retry.limit", { retry: { limit: NaN } }],
  ["retry.delay", { retry: { delay: -1 } }],
  ["retry.delay", { retry: { delay: "1s" } }],
  ["retry.factor", { retry: { factor: NaN } }],
  ["retry.backoffLimit", { retry: { backoffLimit: -1 } }],
  ["retry.jitter", { retry: { jitter: "some" } }],
  ["retry.methods", { retry: { methods: "GET" } }],
  ["retry.shouldRetry", { retry: { shouldRetry: true } }],
  ["timeout", { timeout: -1 }],
  ["timeout", { timeout: "10" }],
  ["totalTimeout", { totalTimeout: NaN }],
  ["covers", { covers: "everything" }],
  ["breaker.failureRate", { breaker: { failureRate: 2 } }],
  ["breaker.consecutiveFailures", { breaker: { consecutiveFailures: -1 } }],
  ["breaker.halfOpenAfter", { breaker: { halfOpenAfter: -1 } }],
  ["onCircuitOpen", { onCircuitOpen: "maybe" }],
  ["onOffline", { onOffline: "maybe" }],
  ["onExhausted", { onExhausted: "maybe" }],
  ["fetch", { fetch: "fetch" }],
];

const verdict = ({ path, isRangeError, isTypeError, message, ...rest }) =>
  assert.ok(
    (isRangeError || isTypeError) && message.includes(path),
    `${path}: ${JSON.stringify({ message, ...rest })}`,
  );

export const options = [
  fact("a bad client option throws a RangeError or TypeError that names its path", {
    input: BAD,
    act: async ({ createFetch, told }, bad) => {
      const client = createFetch();
      const attempt = (path, make) => {
        try {
          make();
          return { path, message: "nothing was thrown" };
        } catch (error) {
          return { path, ...told(error) };
        }
      };
      return bad.flatMap(([path, options]) => [
        attempt(path, () => createFetch(options)),
        attempt(path, () => client.extend(options)),
      ]);
    },
    check: (errors) => errors.forEach(verdict),
  }),

  fact("a bad call option rejects before any request, and the client stays usable", {
    steps: { "/x": 200 },
    input: BAD,
    act: async ({ createFetch, url, thrown, told }, bad) => {
      const client = createFetch();
      const errors = [];
      for (const [path, options] of bad) errors.push({ path, ...told(await thrown(client(`${url}/x`, options))) });
      return { errors, after: (await client(`${url}/x`)).status };
    },
    check: ({ errors, after }, server) => {
      errors.forEach(verdict);
      assert.equal(after, 200);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("a client may take the place of fetch without calling itself", {
    steps: { "/x": { body: "the real one" } },
    act: async ({ createFetch, url }) => {
      const native = globalThis.fetch;
      try {
        globalThis.fetch = createFetch();
        const one = await (await fetch(`${url}/x`)).text();
        globalThis.fetch = createFetch();
        return [one, await (await fetch(`${url}/x`)).text()];
      } finally {
        globalThis.fetch = native;
      }
    },
    check: (value, server) => {
      assert.deepEqual(value, ["the real one", "the real one"]);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("an extended client disposes itself and not its parent", {
    steps: { "/x": 200, "/stall": "stall" },
    act: async ({ createFetch, url, thrown }) => {
      const parent = createFetch();
      const child = parent.extend({});
      const call = child.start(`${url}/stall`);
      child.dispose();
      const ends = [(await thrown(call)).name, (await thrown(child(`${url}/x`))).name];
      return [...ends, (await parent(`${url}/x`)).status];
    },
    check: (value) => assert.deepEqual(value, ["AbortError", "InvalidStateError", 200]),
  }),

  fact("options count wherever an object has them: by inheritance, by a getter", {
    steps: { "/x": 503 },
    act: async ({ createFetch, url }) => {
      class Options {
        get retry() {
          return 0;
        }
        get method() {
          return "PUT";
        }
      }
      return (await createFetch()(`${url}/x`, new Options())).status;
    },
    check: (_status, server) => {
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.method),
        ["PUT"],
      );
    },
  }),

  fact("undefined means the default", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url }) =>
      (
        await createFetch({
          retry: { limit: undefined, delay: 20, jitter: undefined },
          timeout: undefined,
          breaker: undefined,
        })(`${url}/x`)
      ).status,
    check: (status) => assert.equal(status, 200),
  }),

  fact("limit 0, and retry: false, mean one attempt (B101)", {
    steps: { "/x": 503 },
    act: async ({ createFetch, url }) => {
      const client = createFetch();
      for (const retry of [0, false, { limit: 0 }]) await client(`${url}/x`, { retry });
    },
    check: (_value, server) => assert.equal(server.hits("/x").length, 3),
  }),

  fact("a call's options win over its client's", {
    steps: { "/x": [503, 503, 200] },
    act: async ({ createFetch, url, quick }) =>
      (await createFetch({ retry: false })(`${url}/x`, { retry: { ...quick, limit: 2 } })).status,
    check: (status) => assert.equal(status, 200),
  }),

  fact("fetch is looked up at each call, and the one given is preferred", {
    steps: { "/x": { body: "the real one" } },
    act: async ({ createFetch, url }) => {
      const client = createFetch();
      const native = globalThis.fetch;
      globalThis.fetch = async () => new Response("a mock");
      const mocked = await (await client(`${url}/x`)).text();
      globalThis.fetch = native;
      const given = createFetch({ fetch: async () => new Response("the one given") });
      return [mocked, await (await client(`${url}/x`)).text(), await (await given(`${url}/x`)).text()];
    },
    check: (value) => assert.deepEqual(value, ["a mock", "the real one", "the one given"]),
  }),

  fact("the ready-made client works, and ready() is optional and repeatable", {
    steps: { "/x": 200 },
    act: async ({ steadfetch, url }) => {
      const before = (await steadfetch(`${url}/x`)).status;
      await Promise.all([steadfetch.ready(), steadfetch.ready()]);
      return [before, (await steadfetch(`${url}/x`)).status];
    },
    check: (value) => assert.deepEqual(value, [200, 200]),
  }),
];
