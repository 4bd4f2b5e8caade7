// What a drop-in for fetch sends and hands back, and which answers it takes for final.

import assert from "node:assert/strict";
import { fact, facts } from "./fact.mjs";

export const answers = [
  fact("a success resolves with the platform's own Response", {
    steps: { "/x": { status: 201, headers: { "X-Extra": "1" }, body: "hello" } },
    act: async ({ createFetch, url }) => {
      const response = await createFetch()(`${url}/x`);
      return {
        native: Object.getPrototypeOf(response) === Response.prototype && Object.keys(response).length === 0,
        url: response.url,
        status: response.status,
        type: response.type,
        extra: response.headers.get("x-extra"),
        text: await response.text(),
      };
    },
    check: (value, server) => {
      // Node's fetch calls every answer "default", and a page's own origin is "basic".
      assert.ok(["basic", "default"].includes(value.type));
      assert.deepEqual(
        { ...value, type: "" },
        { native: true, url: `${server.url}/x`, status: 201, type: "", extra: "1", text: "hello" },
      );
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("the request is byte for byte the one that fetch would send", {
    steps: { "/x": { echo: true } },
    act: async ({ createFetch, url }) => {
      const init = { method: "POST", headers: { "X-Extra": "1" }, body: "what is sent" };
      const client = createFetch();
      return [await (await fetch(`${url}/x`, init)).json(), await (await client(`${url}/x`, init)).json()];
    },
    check: ([native, ours]) => {
      assert.equal(native.body, "what is sent");
      assert.deepEqual(ours, native);
    },
  }),

  fact("a Request is sent as it is", {
    steps: { "/x": { echo: true } },
    act: async ({ createFetch, url }) => {
      const request = new Request(`${url}/x?a=1`, { method: "PUT", headers: { "X-Extra": "1" }, body: "b" });
      return (await createFetch()(request)).json();
    },
    check: (echo) =>
      assert.deepEqual([echo.method, echo.url, echo.headers["x-extra"], echo.body], ["PUT", "/x?a=1", "1", "b"]),
  }),

  fact("a cross-origin GET causes no preflight", {
    only: "browser",
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, origin2, quick }) => (await createFetch({ retry: quick })(`${origin2}/x`)).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual([server.hits("/x").length, server.preflights("/x").length], [2, 0]);
    },
  }),

  fact("503, 503, then 200 is three requests", {
    steps: { "/x": [503, 503, { body: "at last" }] },
    act: async ({ createFetch, url, quick }) => (await createFetch({ retry: quick })(`${url}/x`)).text(),
    check: (text, server) => {
      assert.equal(text, "at last");
      assert.equal(server.hits("/x").length, 3);
    },
  }),

  fact("the backoff grows from one retry to the next", {
    steps: { "/x": [503, 503, 503, 200] },
    act: async ({ createFetch, url }) =>
      (await createFetch({ retry: { delay: 50, factor: 3, jitter: "none" } })(`${url}/x`)).status,
    check: (_status, server) => {
      const hits = server.hits("/x");
      const gaps = hits.slice(1).map((hit, i) => hit.at - hits[i].answeredAt);
      [50, 150, 450].forEach((least, i) => assert.ok(gaps[i] >= least - 1, `${gaps[i]} ms before retry ${i + 1}`));
    },
  }),

  fact("the last answer of an exhausted call is handed back with its body (B115)", {
    steps: {
      "/x": [
        { status: 503, body: "first" },
        { status: 503, body: "second" },
        { status: 500, body: "last" },
      ],
    },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: { ...quick, limit: 2 } }).start(`${url}/x`);
      const response = await call;
      const { status, reason, failures } = call.state;
      return {
        text: await response.text(),
        status,
        reason,
        failures: failures.map((failure) => failure.status),
        same: call.state.response === response,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, {
        text: "last",
        status: "exhausted",
        reason: "limit",
        failures: [503, 503, 500],
        same: true,
      });
      assert.equal(server.hits("/x").length, 3);
    },
  }),

  fact("a refused connection rejects with fetch's own error once the limit is reached", {
    act: async ({ createFetch, closedUrl, quick, thrown, told }) => {
      const call = createFetch({ retry: { ...quick, limit: 2 } }).start(closedUrl);
      const error = await thrown(call);
      const { status, reason, failures, attempt } = call.state;
      return {
        ...told(error),
        status,
        reason,
        attempt,
        kinds: failures.map((failure) => failure.kind),
        same: call.state.error === error,
      };
    },
    check: (value) => {
      const { isTypeError, status, reason, attempt, kinds, same } = value;
      assert.deepEqual(
        { isTypeError, status, reason, attempt, kinds, same },
        {
          isTypeError: true,
          status: "exhausted",
          reason: "limit",
          attempt: 3,
          kinds: ["network", "network", "network"],
          same: true,
        },
      );
    },
  }),

  ...facts([408, 425, 429, 500, 502, 503, 504, 599], (status) => `${status} is retried`, {
    steps: {
      "/408": [408, 200],
      "/425": [425, 200],
      "/429": [429, 200],
      "/500": [500, 200],
      "/502": [502, 200],
      "/503": [503, 200],
      "/504": [504, 200],
      "/599": [{ status: 599, body: "" }, 200],
    },
    act: async ({ createFetch, url, quick }, status) =>
      (await createFetch({ retry: quick })(`${url}/${status}`)).status,
    check: (status) => assert.equal(status, 200),
  }),

  fact("other answers are final: 400 401 403 404 405 409 410 413 422 501 505 511", {
    steps: { "/x": (hit) => Number(hit.url.split("?")[1]) },
    act: async ({ createFetch, url, quick }) => {
      const client = createFetch({ retry: quick });
      const seen = [];
      for (const status of [400, 401, 403, 404, 405, 409, 410, 413, 422, 501, 505, 511]) {
        const call = client.start(`${url}/x?${status}`);
        seen.push([(await call).status, call.state.status, call.state.reason]);
      }
      return seen;
    },
    check: (seen, server) => {
      for (const [status, state, reason] of seen) assert.deepEqual([state, reason], ["failed", "status"], `${status}`);
      assert.equal(server.hits("/x").length, 12);
    },
  }),

  fact("413 is retried when it tells how long to wait", {
    steps: { "/x": [{ status: 413, retryAfter: 1 }, 200] },
    act: async ({ createFetch, url, quick }) => (await createFetch({ retry: quick })(`${url}/x`)).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.ok(server.hits("/x")[1].at - server.hits("/x")[0].answeredAt >= 999);
    },
  }),

  fact("throwHttpErrors rejects with an HttpError that carries the readable answer", {
    steps: { "/x": { status: 404, body: "not here" } },
    act: async ({ createFetch, url, thrown, HttpError, isHttpError }) => {
      const error = await thrown(createFetch({ throwHttpErrors: true })(`${url}/x`));
      return {
        is: error instanceof HttpError && error instanceof Error,
        guard: isHttpError(error),
        text: await error.response.text(),
        state: error.state.status,
      };
    },
    check: (value) => assert.deepEqual(value, { is: true, guard: true, text: "not here", state: "failed" }),
  }),

  ...facts(
    ["headers", "body"],
    (covers) => `a followed redirect keeps url and redirected, with covers: "${covers}" (B064)`,
    {
      steps: { "/a": { redirect: "/b" }, "/b": { body: "hello" } },
      act: async ({ createFetch, url }, covers) => {
        const response = await createFetch({ covers })(`${url}/a`);
        const copy = response.clone();
        return [response, copy].map(({ url, redirected }) => ({ url, redirected })).concat(await copy.text());
      },
      check: (value, server) => {
        const kept = { url: `${server.url}/b`, redirected: true };
        assert.deepEqual(value, [kept, kept, "hello"]);
      },
    },
  ),

  fact("shouldRetry may read the body of an answer that the caller gets all the same", {
    steps: { "/x": { status: 400, body: "why not" } },
    act: async ({ createFetch, url }) => {
      let read;
      const shouldRetry = async ({ response }) => {
        read = await response.text();
        return false;
      };
      return [await (await createFetch({ retry: { shouldRetry } })(`${url}/x`)).text(), read];
    },
    check: (value) => assert.deepEqual(value, ["why not", "why not"]),
  }),

  ...facts(
    ["headers", "body"],
    (covers) => `204, and HEAD with a Content-Length, resolve with covers: "${covers}" (B062, B063)`,
    {
      steps: { "/none": 204, "/head": [{ status: 503, body: "0123456789" }, { body: "0123456789" }] },
      act: async ({ createFetch, url, quick }, covers) => {
        const client = createFetch({ covers, retry: quick });
        const none = await client(`${url}/none`);
        const head = await client(`${url}/head`, { method: "HEAD" });
        const native = await fetch(`${url}/none`);
        return [
          none.status,
          (none.body === null) === (native.body === null),
          head.status,
          head.headers.get("content-length"),
          none.bodyUsed,
          await none.clone().text(),
          (head.body === null) === ((await fetch(`${url}/head`, { method: "HEAD" })).body === null),
          await head.text(),
        ];
      },
      check: (value, server) => {
        assert.deepEqual(value, [204, true, 200, "10", false, "", true, ""]);
        assert.deepEqual([server.hits("/none").length, server.hits("/head").length], [2, 3]);
      },
    },
  ),

  fact("an opaque answer is final (B066)", {
    only: "browser",
    steps: { "/x": { status: 503, cors: false } },
    act: async ({ createFetch, origin2, quick }) => {
      const call = createFetch({ retry: quick }).start(`${origin2}/x`, { mode: "no-cors" });
      return [(await call).type, call.state.status];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["opaque", "success"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("a manual redirect is final (B067)", {
    only: "browser",
    steps: { "/x": { redirect: "/y" } },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`, { redirect: "manual" });
      return [(await call).type, call.state.status];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["opaqueredirect", "success"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("an answer withheld by CORS is a network failure, so it is retried (B121)", {
    only: "browser",
    steps: { "/x": [{ cors: false }, 200] },
    act: async ({ createFetch, origin2, quick }) => {
      const call = createFetch({ retry: quick }).start(`${origin2}/x`);
      return [(await call).status, call.state.failures.map((failure) => failure.kind)];
    },
    check: (value, server) => {
      assert.deepEqual(value, [200, ["network"]]);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  fact("what the caller got wrong rejects as fetch does, and nothing is sent (B120, B137)", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url, quick, thrown, told }) => {
      const client = createFetch({ retry: quick });
      const wrong = [
        ["http://["],
        [`${url}/x`, { body: "b" }],
        [`${url}/x`, { headers: { "a b": "c" } }],
        [`${url}/x`, { method: "TRACE" }],
        [url.replace("//", "//user:pw@")],
      ];
      const errors = [];
      for (const args of wrong) errors.push(told(await thrown(client(...args))));
      return {
        errors,
        circuits: [...client.circuits].filter((circuit) => circuit.consecutiveFailures > 0),
        after: (await client(`${url}/x`)).status,
      };
    },
    check: ({ errors, circuits, after }, server) => {
      for (const error of errors) assert.ok(error.isTypeError, error.message);
      assert.deepEqual(circuits, []);
      assert.equal(after, 200);
      assert.equal(server.hits("/x").length, 1);
    },
  }),
];
