// What lies between JavaScript and the core: nothing is asked of memory that was given back, whatever a page does meanwhile.

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";

/** Exports that take no pointer. */
const BARE = ["family", "release"];
/** The place of the policy among the arguments. */
const POLICY = { listed: 1, resolve: 1, insert: 1, restore: 1, hear: 1, isolate: 1, attempts: 0, release_policy: 0 };

const { Instance } = WebAssembly;
const families = new Set();
const policies = new Set();
const faults = [];

/** What keeps an account of `exports`. */
function watched(exports) {
  const check = (name, args) => {
    const known = name in POLICY ? policies.has(args[POLICY[name]]) : true;
    const first = BARE.includes(name) || POLICY[name] === 0 || families.has(args[0]);
    if (!known || !first) faults.push(name);
  };
  const wrapped =
    (name, act) =>
    (...args) => {
      check(name, args);
      const result = act(...args);
      if (name === "family") families.add(result);
      if (name === "policy") policies.add(result);
      if (name === "free") families.delete(args[0]);
      if (name === "release_policy") policies.delete(args[0]);
      return result;
    };
  return Object.fromEntries(
    Object.entries(exports).map(([name, it]) => [name, typeof it === "function" ? wrapped(name, it) : it]),
  );
}

const URL_ = "http://boundary.test/";
const RETRY = { limit: 1, delay: 0, jitter: "none" };
let createFetch;

before(async () => {
  // Another module may be made into an instance in between.
  WebAssembly.Instance = function instance(...args) {
    const { exports } = new Instance(...args);
    return { exports: exports.family ? watched(exports) : exports };
  };
  ({ createFetch } = await import("../pkg/dist/index.js"));
});
beforeEach(() => {
  faults.length = 0;
});
after(() => {
  WebAssembly.Instance = Instance;
});

describe("a client that is disposed of", () => {
  test("in a listener, by a request of beforeRetry that is given up already", async () => {
    const beforeRetry = async ({ request }) => new Request(request, { signal: AbortSignal.abort("no more") });
    const client = createFetch({
      retry: { ...RETRY, beforeRetry },
      fetch: async () => new Response("", { status: 503 }),
    });
    const onState = ({ status }) => status === "cancelled" && client.dispose();
    await assert.rejects(client(URL_, { onState }), (reason) => reason === "no more");
    assert.deepEqual(faults, []);
    assert.equal(families.size, 0);
  });

  test("while the headers of an answer are read", async () => {
    const headers = { get: () => client.dispose(), has: () => false };
    const client = createFetch({ fetch: async () => ({ status: 503, headers }) });
    await assert.rejects(client(URL_), { name: "AbortError" });
    assert.deepEqual(faults, []);
    assert.equal(families.size, 0);
  });

  for (const name of ["isolate", "reset"]) {
    test(`while circuits.${name}() makes text of its key`, () => {
      const client = createFetch();
      client.circuits.reset();
      assert.equal(families.size, 1, "it had a core");
      const key = { toString: () => `${client.dispose()}` };
      assert.throws(() => client.circuits[name](key), { name: "InvalidStateError" });
      assert.deepEqual(faults, []);
      assert.equal(families.size, 0);
    });
  }
});

describe("what a fetch of the page's gives", () => {
  for (const [what, rest] of [
    ["has no headers", {}],
    [
      "throws where its headers are read",
      {
        get headers() {
          throw new Error("none");
        },
      },
    ],
  ]) {
    test(`is an answer, also if it ${what}`, { timeout: 5_000 }, async () => {
      const answer = Object.defineProperties({ status: 503 }, Object.getOwnPropertyDescriptors(rest));
      let sent = 0;
      const fetch = async () => {
        sent++;
        return answer;
      };
      const client = createFetch({ retry: RETRY, fetch });
      assert.equal(await client(URL_), answer);
      assert.equal(sent, 1 + RETRY.limit);
    });
  }

  test("tells its time, whatever is done while its headers are read", async () => {
    const headers = {
      get: (name) => (name === "Retry-After" ? "7" : null),
      has: () => Boolean(client.circuits.reset("a key that takes the room in which the headers were")),
    };
    const client = createFetch({ retry: { limit: 1 }, fetch: async () => ({ status: 503, headers }) });
    const call = client.start(URL_);
    const told = [];
    for await (const { status, delay, source } of call) {
      if (status !== "waiting") continue;
      told.push(source);
      assert.ok(delay >= 7_000, `${delay} ms`);
      break;
    }
    assert.deepEqual(told, ["retry-after"]);
    call.cancel();
  });
});

test("a key keeps its first character, a byte order mark though it be", async () => {
  const key = "\uFEFFkey";
  const breaker = { key: () => key, consecutiveFailures: 1 };
  const client = createFetch({ retry: 0, breaker, fetch: async () => new Response("", { status: 503 }) });
  await client(URL_);
  assert.equal(client.circuits.get(key)?.status, "open");
  const next = createFetch({ breaker }, { restore: client.snapshot() });
  assert.equal(next.circuits.get(key)?.status, "open");
});

describe("a page that makes errors of reports", () => {
  /** `act` with that method of the console throwing; gives what came of it as errors of the page. */
  async function strict(name, act) {
    const old = console[name];
    const errors = [];
    const note = (error) => errors.push(error);
    process.prependListener("uncaughtException", note);
    const others = process.listeners("uncaughtException").filter((listener) => listener !== note);
    for (const listener of others) process.removeListener("uncaughtException", listener);
    console[name] = (error) => {
      throw error;
    };
    try {
      await act();
      await new Promise((resolve) => setTimeout(resolve));
    } finally {
      console[name] = old;
      for (const listener of others) process.on("uncaughtException", listener);
      process.removeListener("uncaughtException", note);
    }
    return errors;
  }

  const OK = { retry: 0, fetch: async () => new Response() };
  for (const at of ["loading", "success"]) {
    test(`has its answer all the same where a listener of "${at}" throws`, { timeout: 5_000 }, async () => {
      const client = createFetch(OK);
      const error = new Error(at);
      const onState = ({ status }) => {
        if (status === at) throw error;
      };
      const errors = await strict("error", async () => assert.equal((await client(URL_, { onState })).status, 200));
      assert.deepEqual(errors, [error]);
      assert.equal((await client(URL_)).status, 200);
    });
  }

  test("hears of a call that is wrong, though what was thrown has no words", { timeout: 5_000 }, async () => {
    const thrown = Object.create(null);
    const idempotencyKey = () => {
      throw thrown;
    };
    const client = createFetch({ ...OK, debug: true });
    const errors = await strict("error", () =>
      assert.rejects(client(URL_, { idempotencyKey }), (error) => error === thrown),
    );
    assert.equal(errors.length, 1);
    assert.ok(errors[0] instanceof TypeError);
    assert.equal((await client(URL_)).status, 200);
  });
});
