// Which requests may be sent again, with what body, and under which key.

import assert from "node:assert/strict";
import { fact, facts } from "./fact.mjs";

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const bodies = [
  ...facts(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "QUERY"], (method) => `${method} is retried`, {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }, method) =>
      (await createFetch({ retry: quick })(`${url}/x`, { method })).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.equal(server.hits("/x").length, 2);
    },
  }),

  ...facts(["POST", "PATCH"], (method) => `${method} without a key is sent once when the answer is 503`, {
    steps: { "/x": [{ status: 503, body: "busy" }, 200] },
    act: async ({ createFetch, url, quick }, method) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`, { method, body: "b" });
      return [await (await call).text(), call.state.status, call.state.reason];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["busy", "failed", "not-idempotent"]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("POST without a key is sent once when the connection is lost, and fetch's own error comes out", {
    steps: { "/x": ["refuse", 200] },
    act: async ({ createFetch, url, quick, thrown, told }) => {
      const call = createFetch({ retry: quick }).start(`${url}/x`, { method: "POST", body: "b" });
      const error = await thrown(call);
      return {
        typeError: told(error).isTypeError,
        status: call.state.status,
        reason: call.state.reason,
        same: call.state.error === error,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, { typeError: true, status: "failed", reason: "not-idempotent", same: true });
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("POST listed in methods is retried", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) =>
      (await createFetch({ retry: { ...quick, methods: ["POST"] } })(`${url}/x`, { method: "POST", body: "b" })).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.text),
        ["b", "b"],
      );
    },
  }),

  fact('idempotencyKey: "auto" lets POST be retried, with one UUID on every attempt, the first included (B132)', {
    steps: { "/x": [{ status: 503, close: true }, "refuse", "reset-headers", 200] },
    act: async ({ createFetch, url, quick }) => {
      const call = createFetch({ retry: quick, idempotencyKey: "auto" }).start(`${url}/x`, {
        method: "POST",
        body: "b",
      });
      return [(await call).status, call.state.attempt];
    },
    check: (value, server) => {
      assert.deepEqual(value, [200, 4]);
      const keys = server.hits("/x").map((hit) => hit.headers["idempotency-key"]);
      assert.equal(keys.length, 4);
      assert.match(keys[0], UUID_V4);
      assert.deepEqual(keys, Array(4).fill(keys[0]));
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.text),
        Array(4).fill("b"),
      );
    },
  }),

  fact("two calls never share a key", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url }) => {
      const client = createFetch({ idempotencyKey: "auto" });
      await Promise.all([1, 2].map(() => client(`${url}/x`, { method: "POST", body: "b" })));
    },
    check: (_value, server) =>
      assert.equal(new Set(server.hits("/x").map((hit) => hit.headers["idempotency-key"])).size, 2),
  }),

  fact("the caller's own key is kept and allows retries (B131)", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const headers = { "Idempotency-Key": "mine" };
      return (
        await createFetch({ retry: quick, idempotencyKey: "auto" })(`${url}/x`, { method: "POST", headers, body: "b" })
      ).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.headers["idempotency-key"]),
        ["mine", "mine"],
      );
    },
  }),

  fact("the key's header has the name and form asked for", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url }) => {
      const client = createFetch({ idempotencyHeader: { name: "X-Once", format: "sf-string" } });
      await client(`${url}/x`, { method: "POST", body: "b", idempotencyKey: "abc" });
      await client(`${url}/x`, { method: "POST", body: "b", idempotencyKey: (request) => `for ${request.method}` });
    },
    check: (_value, server) =>
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.headers["x-once"]),
        ['"abc"', '"for POST"'],
      ),
  }),

  fact("409 for a key that we sent is retried (B133)", {
    steps: { "/x": [503, 409, 200] },
    act: async ({ createFetch, url, quick }) =>
      (await createFetch({ retry: quick, idempotencyKey: "auto" })(`${url}/x`, { method: "POST", body: "b" })).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.equal(server.hits("/x").length, 3);
    },
  }),

  ...facts(
    ["string", "URLSearchParams", "Blob", "ArrayBuffer", "Uint8Array", "Request", "factory", "bodyFactory"],
    (kind) => `a body is sent again in full: ${kind} (B039)`,
    {
      steps: { "/x": [503, { status: 503, close: true }, "refuse", 200] },
      act: async ({ createFetch, url, quick }, kind) => {
        const client = createFetch({ retry: quick });
        const text = "a=what%20is+sent";
        const bytes = new TextEncoder().encode(text);
        let made = 0;
        const make = () => {
          made++;
          return text;
        };
        const inits = {
          string: { body: text },
          URLSearchParams: { body: new URLSearchParams(text) },
          Blob: { body: new Blob([text], { type: "text/x-blob" }) },
          ArrayBuffer: { body: bytes.buffer },
          Uint8Array: { body: bytes },
          factory: { body: make },
          bodyFactory: { bodyFactory: make },
        };
        const pending =
          kind === "Request"
            ? client(new Request(`${url}/x`, { method: "PUT", body: text }))
            : client(`${url}/x`, { method: "PUT", ...inits[kind] });
        return [(await pending).status, made, kind];
      },
      check: ([status, made, kind], server) => {
        const hits = server.hits("/x");
        const text = kind === "URLSearchParams" ? "a=what+is+sent" : "a=what%20is+sent";
        assert.equal(status, 200);
        assert.deepEqual(
          hits.map((hit) => hit.text),
          Array(4).fill(text),
        );
        assert.deepEqual(
          hits.map((hit) => hit.headers["content-type"]),
          Array(4).fill(hits[0].headers["content-type"]),
        );
        if (kind === "Blob") assert.equal(hits[0].headers["content-type"], "text/x-blob");
        if (kind.toLowerCase().includes("factory")) assert.equal(made, 4);
      },
    },
  ),

  ...facts(
    ["FormData", "Request"],
    (kind) => `a form is sent again in full, its boundary told by its own header: ${kind} (B049)`,
    {
      steps: { "/x": [503, 200] },
      act: async ({ createFetch, url, quick }, kind) => {
        const form = new FormData();
        form.append("field", "value");
        form.append("file", new Blob(["abc"]), "abc.txt");
        const init = { method: "PUT", body: form };
        const client = createFetch({ retry: quick });
        return (await (kind === "Request" ? client(new Request(`${url}/x`, init)) : client(`${url}/x`, init))).status;
      },
      check: (status, server) => {
        assert.equal(status, 200);
        const forms = server.hits("/x").map(({ headers, text }) => {
          const [, boundary] = /^multipart\/form-data; boundary=(.+)$/.exec(headers["content-type"]);
          assert.ok(text.startsWith(`--${boundary}\r\n`) && text.trimEnd().endsWith(`--${boundary}--`));
          return text.replaceAll(boundary, "boundary");
        });
        assert.equal(forms.length, 2);
        assert.equal(forms[0], forms[1]);
        assert.match(forms[0], /name="field"\r\n\r\nvalue\r\n.*filename="abc.txt".*\r\n\r\nabc\r\n/s);
      },
    },
  ),

  fact("bytes are those of the moment of the call, whatever the caller writes there later", {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const bytes = new TextEncoder().encode("before");
      const pending = createFetch({ retry: quick })(`${url}/x`, { method: "PUT", body: bytes });
      bytes.fill(33);
      return (await pending).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.text),
        ["before", "before"],
      );
    },
  }),

  ...facts([503, "refuse"], (step) => `a stream is sent once: ${step} (B042)`, {
    only: "node", // Chromium sends streams over HTTP/2 only
    steps: { "/503": [503, 200], "/refuse": ["refuse", 200] },
    act: async ({ createFetch, url, quick }, step) => {
      const body = new Blob(["what is sent"]).stream();
      const call = createFetch({ retry: quick }).start(`${url}/${step}`, { method: "PUT", body, duplex: "half" });
      const outcome = await call.response.then(
        (response) => response.status,
        (error) => error.name,
      );
      return [outcome, call.state.status, call.state.reason];
    },
    check: ([outcome, ...state], server) => {
      const hits = [...server.hits("/503"), ...server.hits("/refuse")];
      assert.ok([503, "TypeError"].includes(outcome));
      assert.deepEqual(state, ["failed", "body-not-replayable"]);
      assert.deepEqual(
        hits.map((hit) => hit.text),
        ["what is sent"],
      );
    },
  }),

  fact("a stream is not sent again after a network failure, and fetch's own error comes out (B042)", {
    only: "browser", // which refuses to stream over HTTP/1.1, or at all: the failure
    except: { firefox: "its fetch sends the text [object ReadableStream] in the place of a stream" },
    steps: { "/x": 200 },
    act: async ({ createFetch, url, quick, thrown, told }) => {
      const body = new Blob(["what is sent"]).stream();
      const call = createFetch({ retry: quick }).start(`${url}/x`, { method: "PUT", body, duplex: "half" });
      const { name } = told(await thrown(call));
      const again = new Blob(["what is sent"]).stream();
      const native = told(await thrown(fetch(`${url}/x`, { method: "PUT", body: again, duplex: "half" })));
      const { status, reason, attempt } = call.state;
      return { name, native: native.name, status, reason, attempt };
    },
    check: ({ name, native, ...state }) => {
      assert.deepEqual(state, { status: "failed", reason: "body-not-replayable", attempt: 1 });
      assert.equal(name, native);
      // The latter is WebKit's.
      assert.match(name, /^(TypeError|NotSupportedError)$/);
    },
  }),

  fact("a factory makes a stream replayable, without a word about duplex (B052)", {
    only: "node",
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick }) => {
      const body = () => new Blob(["what is sent"]).stream();
      return (await createFetch({ retry: quick })(`${url}/x`, { method: "PUT", body })).status;
    },
    check: (status, server) => {
      assert.equal(status, 200);
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.text),
        ["what is sent", "what is sent"],
      );
    },
  }),

  fact("shouldRetry may read the answer, and beforeRetry may send another request", {
    steps: { "/x": [{ status: 401, body: "token expired" }, 200] },
    act: async ({ createFetch, url, quick }) => {
      const read = [];
      const client = createFetch({
        retry: {
          ...quick,
          shouldRetry: async ({ response, attempt }) => {
            read.push([attempt, response.status, await response.text()]);
            return response.status === 401;
          },
          beforeRetry: ({ request }) => new Request(request, { headers: { Authorization: "fresh" } }),
        },
      });
      const { status } = await client(`${url}/x`, { headers: { Authorization: "stale" } });
      return { status, read };
    },
    check: (value, server) => {
      assert.deepEqual(value, { status: 200, read: [[1, 401, "token expired"]] });
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.headers.authorization),
        ["stale", "fresh"],
      );
    },
  }),

  ...facts(["shouldRetry", "beforeRetry", "delay"], (hook) => `what ${hook} throws rejects the call as it is (B108)`, {
    steps: { "/x": [503, 200] },
    act: async ({ createFetch, url, quick, thrown }, hook) => {
      const fault = new Error("of the hook");
      const client = createFetch({
        retry: {
          ...quick,
          [hook]: () => {
            throw fault;
          },
        },
      });
      const call = client.start(`${url}/x`);
      const error = await thrown(call);
      return {
        same: error === fault,
        status: call.state.status,
        reason: call.state.reason,
        next: (await client(`${url}/x`)).status,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, { same: true, status: "failed", reason: "callback-threw", next: 200 });
      assert.equal(server.hits("/x").length, 2);
    },
  }),
];
