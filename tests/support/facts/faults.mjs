// What the network does, and how long the server asks to be left alone.
//
// Before a fault that breaks the connection an answer ends it (`close: true`): on a used connection Chromium itself
// sends the request once more, unseen by the package.

import assert from "node:assert/strict";
import { HUGE, NO_STORE } from "../server.mjs";
import { fact, facts } from "./fact.mjs";

/** One step for the first request of each URL, another for the rest. */
function onceEach(first, rest) {
  return (hit, earlier) => (earlier.some(({ url }) => url === hit.url) ? rest : first);
}

export const faults = [
  ...facts(
    ["refuse", "hang-up", "reset-headers"],
    (step) => `${step}: a connection lost before the headers are complete is retried`,
    {
      steps: {
        "/refuse": ["refuse", "refuse", 200],
        "/hang-up": ["hang-up", "hang-up", 200],
        "/reset-headers": ["reset-headers", "reset-headers", 200],
      },
      act: async ({ createFetch, url, quick }, step) => {
        const call = createFetch({ retry: quick }).start(`${url}/${step}`);
        return [(await call).status, call.state.attempt, call.state.failures.map((failure) => failure.kind)];
      },
      check: (value) => assert.deepEqual(value, [200, 3, ["network", "network"]]),
    },
  ),

  ...facts(
    ["reset-body", "cut-body"],
    (step) => `${step}: a body that breaks after the headers fails its reader and is not asked for again (B060)`,
    {
      steps: {
        "/reset-body": ["reset-body", 200],
        "/cut-body": ["cut-body", 200],
        "/native/reset-body": "reset-body",
        "/native/cut-body": "cut-body",
      },
      act: async ({ createFetch, url, quick, thrown, told, sleep }, step) => {
        const response = await createFetch({ retry: quick })(`${url}/${step}`);
        const error = told(await thrown(response.text()));
        const native = told(await thrown((await fetch(`${url}/native/${step}`)).text()));
        await sleep(200);
        return { status: response.status, error, native };
      },
      check: ({ status, error, native }, server) => {
        assert.equal(status, 200);
        assert.equal(error.name, native.name);
        // The latter is what Firefox calls a reset.
        assert.ok(error.isTypeError || error.name === "AbortError");
        assert.equal(server.hits("/reset-body").length + server.hits("/cut-body").length, 1);
      },
    },
  ),

  ...facts(
    ["reset-body", "cut-body"],
    (step) => `${step} with covers: "body": asked for again, and no bytes of two answers are joined`,
    {
      steps: {
        "/reset-body": ["reset-body", { body: "the whole of it" }],
        "/cut-body": ["cut-body", { body: "the whole of it" }],
      },
      act: async ({ createFetch, url, quick }, step) => {
        const call = createFetch({ retry: quick, covers: "body" }).start(`${url}/${step}`);
        const response = await call;
        return [
          response.status,
          await response.text(),
          response.url === `${url}/${step}`,
          call.state.failures.map((failure) => failure.kind),
        ];
      },
      check: (value) => assert.deepEqual(value, [200, "the whole of it", true, ["network"]]),
    },
  ),

  fact("a stalled attempt is closed at its timeout and retried", {
    steps: { "/x": ["stall", 200] },
    act: async ({ createFetch, url, quick, hits, until }) => {
      const call = createFetch({ retry: quick, timeout: 300 }).start(`${url}/x`);
      const { status } = await call;
      await until(async () => (await hits("/x"))[0].aborted);
      return [status, call.state.failures.map((failure) => failure.kind)];
    },
    check: (value, server) => {
      assert.deepEqual(value, [200, ["timeout"]]);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact('a body that stalls is closed at the timeout and retried with covers: "body"', {
    steps: { "/x": ["stall-body", { body: "the whole of it" }] },
    act: async ({ createFetch, url, quick, hits, until }) => {
      const response = await createFetch({ retry: quick, timeout: 300, covers: "body" })(`${url}/x`);
      await until(async () => (await hits("/x"))[0].aborted);
      return response.text();
    },
    check: (text, server) => {
      assert.equal(text, "the whole of it");
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("the attempt timer stops at the headers: a body may drip for longer", {
    steps: { "/x": { body: "abcdefgh", drip: { bytes: 1, every: 300 } } },
    act: async ({ createFetch, url }) => (await createFetch({ timeout: 1_500 })(`${url}/x`)).text(),
    check: (text, server) => {
      assert.equal(text, "abcdefgh");
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("retryOnTimeout: false leaves a stalled attempt with our TimeoutError (B076)", {
    steps: { "/x": "stall" },
    act: async ({ createFetch, url, quick, thrown, TimeoutError, isTimeoutError }) => {
      const error = await thrown(createFetch({ retry: { ...quick, retryOnTimeout: false }, timeout: 150 })(`${url}/x`));
      return {
        is: error instanceof TimeoutError && error instanceof Error,
        guard: isTimeoutError(error),
        name: error.name,
        scope: error.scope,
        timeout: error.timeout,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, { is: true, guard: true, name: "TimeoutError", scope: "attempt", timeout: 150 });
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("the total timeout ends a running attempt with a TimeoutError", {
    steps: { "/x": "stall" },
    act: async ({ createFetch, url, quick, thrown, hits, until }) => {
      const error = await thrown(createFetch({ retry: quick, timeout: false, totalTimeout: 300 })(`${url}/x`));
      await until(async () => (await hits("/x"))[0].aborted);
      return { name: error.name, scope: error.scope, timeout: error.timeout };
    },
    check: (value, server) => {
      assert.deepEqual(value, { name: "TimeoutError", scope: "total", timeout: 300 });
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("a wait that would pass the total timeout is not begun (B075)", {
    steps: { "/x": { status: 503, body: "busy" } },
    act: async ({ createFetch, url }) => {
      const call = createFetch({
        retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" },
        totalTimeout: 30_000,
      }).start(`${url}/x`);
      return [await (await call).text(), call.state.status, call.state.reason];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["busy", "exhausted", "total-timeout"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  ...facts([429, 503], (status) => `Retry-After in seconds on a ${status} is not undercut`, {
    steps: { "/429": [{ status: 429, retryAfter: 1 }, 200], "/503": [{ status: 503, retryAfter: 1 }, 200] },
    act: async ({ createFetch, url, quick, reached }, status) => {
      const call = createFetch({ retry: quick }).start(`${url}/${status}`);
      const { source } = await reached(call, "waiting");
      return { status: (await call).status, source, path: `/${status}` };
    },
    check: ({ status, source, path }, server) => {
      const [first, second] = server.hits(path);
      assert.deepEqual([status, source], [200, "retry-after"]);
      assert.ok(second.at - first.answeredAt >= 999, `${second.at - first.answeredAt} ms`);
    },
  }),

  fact("Retry-After as a date is not undercut", {
    steps: { "/x": [{ status: 503, retryAfter: "date:+2" }, 200] },
    act: async ({ createFetch, url, quick }) => (await createFetch({ retry: quick })(`${url}/x`)).status,
    check: (status, server) => {
      const [first, second] = server.hits("/x");
      assert.equal(status, 200);
      assert.ok(second.wall >= first.told, `${first.told - second.wall} ms early`);
    },
  }),

  ...facts([3600, -3600], (skew) => `a date is measured by the server's own clock, ${skew} s off (B091)`, {
    steps: {
      "/3600": [{ status: 503, retryAfter: "date:+1", skew: 3600 }, 200],
      "/-3600": [{ status: 503, retryAfter: "date:+1", skew: -3600 }, 200],
    },
    act: async ({ createFetch, url, quick, reached }, skew) => {
      const call = createFetch({ retry: quick }).start(`${url}/${skew}`);
      const { source } = await reached(call, "waiting");
      return { status: (await call).status, source, path: `/${skew}` };
    },
    check: ({ status, source, path }, server) => {
      const [first, second] = server.hits(path);
      assert.deepEqual([status, source], [200, "retry-after"]);
      assert.ok(second.at - first.answeredAt >= 999, `${second.at - first.answeredAt} ms`);
    },
  }),

  fact("a Retry-After that CORS does not expose cannot be seen: the backoff applies (B090)", {
    only: "browser",
    steps: { "/x": [{ status: 503, retryAfter: 30 }, 200] },
    act: async ({ createFetch, origin2, quick, reached }) => {
      const call = createFetch({ retry: quick }).start(`${origin2}/x`);
      return [(await reached(call, "waiting")).source, (await call).status];
    },
    check: (value) => assert.deepEqual(value, ["backoff", 200]),
  }),

  fact("a Retry-After that CORS exposes is not undercut (B090)", {
    only: "browser",
    steps: { "/x": [{ status: 503, retryAfter: 1, cors: "Retry-After" }, 200] },
    act: async ({ createFetch, origin2, quick, reached }) => {
      const call = createFetch({ retry: quick }).start(`${origin2}/x`);
      return [(await reached(call, "waiting")).source, (await call).status];
    },
    check: (value, server) => {
      const [first, second] = server.hits("/x");
      assert.deepEqual(value, ["retry-after", 200]);
      assert.ok(second.at - first.answeredAt >= 999, `${second.at - first.answeredAt} ms`);
    },
  }),

  fact("a hint longer than maxRetryAfter ends the call at once, with the time told (B088)", {
    steps: { "/x": { status: 429, retryAfter: 120, body: "later" } },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`);
      const text = await (await call).text();
      return { text, status: call.state.status, reason: call.state.reason, ahead: call.state.retryAt - Date.now() };
    },
    check: ({ text, status, reason, ahead }, server) => {
      assert.deepEqual([text, status, reason], ["later", "exhausted", "retry-after-too-long"]);
      assert.ok(ahead > 100_000 && ahead <= 133_000, `${ahead} ms ahead`);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("a Retry-After on one call holds the origin's other calls back too", {
    steps: { "/busy": [{ status: 429, retryAfter: 1 }, 200], "/other": 200 },
    act: async ({ createFetch, url, quick, reached }) => {
      const client = createFetch({ retry: quick });
      const busy = client.start(`${url}/busy`);
      await reached(busy, "waiting");
      const other = client.start(`${url}/other`);
      const { source, cause } = await reached(other, "waiting");
      return [source, cause.status, (await busy).status, (await other).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["retry-after", 429, 200, 200]);
      const [busy] = server.hits("/busy");
      assert.ok(server.hits("/other")[0].at - busy.answeredAt >= 999);
    },
  }),

  fact("a keep-alive connection that the server closed between two calls costs nothing", {
    steps: { "/x": [{ keepAliveClose: true }, 200] },
    act: async ({ createFetch, url, quick, sleep }) => {
      const client = createFetch({ retry: quick });
      await (await client(`${url}/x`)).text();
      await sleep(50);
      return (await client(`${url}/x`)).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("a keep-alive connection that is reset as the next request arrives is survived", {
    steps: { "/x": [{ keepAliveClose: "next" }, 200] },
    act: async ({ createFetch, url, quick, sleep }) => {
      const client = createFetch({ retry: quick });
      await (await client(`${url}/x`)).text();
      await sleep(50);
      return (await client(`${url}/x`)).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.equal(server.dropped("/x").length, 1);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("the bodies of discarded answers are cancelled: twice as many big ones as an origin has connections", {
    except: { webkit: "native fetch is not answered there either, where several big bodies are cancelled at a time" },
    steps: { "/x": onceEach({ status: 503, body: HUGE, headers: NO_STORE }, 200) },
    act: async ({ createFetch, url, quick, hits, until }) => {
      const client = createFetch({ retry: quick, breaker: false, budget: false });
      const responses = await Promise.all(Array.from({ length: 12 }, (_, i) => client(`${url}/x?${i}`)));
      await until(async () => (await hits("/x")).filter((hit) => hit.aborted).length === 12);
      return responses.map((response) => response.status);
    },
    check: (statuses, server) => {
      assert.deepEqual(statuses, Array(12).fill(200));
      assert.equal(server.hits("/x").length, 24);
    },
  }),
];
