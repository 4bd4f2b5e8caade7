// What goes on in a World while the caller gives up: calls with all their hooks, answers and events.

import { random } from "./world.mjs";

const ok = { status: 200 };
const broken = { status: 503 };
const slow = (answer, after = 40) => ({ ...answer, after });
const busy = (seconds) => ({ status: 429, headers: { "Retry-After": String(seconds) } });

const path = (request) => new URL(request.url).pathname;

/** Options with each hook there is; `later` for those that may answer later. */
function hooked(world, later = false) {
  const hook = (name, answer) => (context) => {
    world.hook(`${name} ${path(context.request ?? context)}`);
    return answer?.(context);
  };
  const asynchronous = (name) => async (context) => {
    world.hook(`${name} ${path(context.request)}`);
    await world.sleep(20);
    world.inside(`${name}, later`);
  };
  return {
    retry: {
      limit: 3,
      jitter: "none",
      delay: hook("delay", () => 1_500),
      shouldRetry: later ? asynchronous("shouldRetry") : hook("shouldRetry"),
      beforeRetry: later ? asynchronous("beforeRetry") : hook("beforeRetry"),
    },
    breaker: {
      key: hook("key", (request) => new URL(request.url).origin),
      isFailure: () => world.hook("isFailure"),
    },
    idempotencyKey: hook("idempotencyKey", () => "the-key"),
  };
}

const plain = { retry: { limit: 3, delay: 100, jitter: "none" } };
/** Two failures in a row open the circuit for a second. */
const tripping = {
  retry: { limit: 0, jitter: "none", delay: 100 },
  breaker: { consecutiveFailures: 2, halfOpenAfter: 1_000, maxOpen: 1_000 },
};
async function trip(world, client) {
  world.script(broken);
  for (let i = 0; i < 2; i++) (await client("https://a.test/trip")).body.cancel();
}
const never = (world, name) => () => {
  world.hook(name);
  return new Promise(() => {});
};

/** Where `covers: "body"` has no steps that are the same again. */
export const unsteady = { firefox: "it reads a stream of the page's own by way of another thread, at no certain step" };

/**
 * `client` and `init`: the options; `script`: see World.fetch; `events`: [when, what]; `before`: what comes before the
 * call; `beside`: another call that must not suffer, unless it has the same signal (`shared`); `observed`: someone looks at client and circuits; `read`: the
 * caller reads the body; `ends`: how the call ends when nobody gives up, and after how many requests.
 */
export const scenarios = [
  {
    name: "retries with each hook",
    client: (world) => hooked(world),
    script: [broken, {}, slow(ok)],
    ends: ["success", 3],
  },
  {
    name: "retries with hooks that answer later",
    client: (world) => hooked(world, true),
    init: { method: "POST", body: "text" },
    script: [slow(broken), slow({}), ok],
    ends: ["success", 3],
  },
  {
    name: "retries that do not help",
    client: () => ({ ...plain, throwHttpErrors: true }),
    script: [broken, slow(broken), broken],
    ends: ["exhausted", 4],
  },
  {
    name: "a Retry-After and another call that it keeps away",
    client: () => plain,
    script: [slow(busy(2)), ok],
    events: [[60, (world) => world.beside()]],
    beside: true,
    ends: ["success", 3],
  },
  {
    name: "a key that another call has parked",
    client: () => ({ ...plain, retry: { ...plain.retry, limit: 0 } }),
    before: async (world, client) => {
      world.script(busy(2));
      (await client("https://a.test/parks")).body.cancel();
    },
    script: [slow(ok)],
    ends: ["success", 1],
  },
  {
    name: "offline, then online",
    client: () => plain,
    online: false,
    script: [slow(broken), ok],
    events: [
      [100, (world) => world.go(true)],
      [165, (world) => world.go(false)],
      [300, (world) => world.go(true)],
    ],
    ends: ["success", 2],
  },
  {
    name: "an open circuit that is waited for",
    client: () => ({ ...tripping, onCircuitOpen: "wait" }),
    before: trip,
    observed: true,
    script: [slow(ok)],
    events: [[0, (world) => world.beside()]],
    beside: true,
    ends: ["success", 2],
  },
  {
    name: "two calls of one signal that wait for a circuit",
    client: () => ({ ...tripping, onCircuitOpen: "wait" }),
    before: trip,
    script: [slow(ok)],
    events: [[0, (world) => world.beside()]],
    beside: true,
    shared: true,
    ends: ["success", 2],
  },
  {
    name: "the probe of a half-open circuit",
    client: () => tripping,
    before: async (world, client) => {
      await trip(world, client);
      await world.to(1_000);
    },
    observed: true,
    script: [slow(ok)],
    ends: ["success", 1],
  },
  {
    name: "a probe that fails",
    client: () => tripping,
    before: async (world, client) => {
      await trip(world, client);
      await world.to(1_000);
    },
    observed: true,
    script: [slow(broken)],
    ends: ["exhausted", 1],
  },
  {
    name: "a circuit that opens between the attempts of a call",
    client: () => ({ ...tripping, retry: { limit: 3, delay: 100, jitter: "none" }, onCircuitOpen: "wait" }),
    observed: true,
    script: [broken, slow(broken), ok],
    ends: ["success", 3],
  },
  {
    name: "an open circuit that refuses",
    client: () => tripping,
    before: trip,
    observed: true,
    script: [ok],
    ends: ["circuit-open", 0],
  },
  {
    name: "a body that belongs to the attempt",
    except: unsteady,
    client: () => ({ ...plain, covers: "body", timeout: 70 }),
    script: [
      { status: 200, chunks: 3, every: 30 },
      { ...slow(ok), chunks: 2, every: 10 },
    ],
    ends: ["success", 2],
  },
  {
    name: "a body that the caller reads",
    client: () => plain,
    script: [broken, { ...slow(ok), chunks: 3, every: 20 }],
    read: true,
    ends: ["success", 2],
  },
  {
    name: "beforeRetry that never answers",
    client: (world) => ({ ...plain, retry: { ...plain.retry, beforeRetry: never(world, "beforeRetry") } }),
    script: [broken, ok],
    ends: ["loading", 1],
  },
  {
    name: "shouldRetry that never answers",
    client: (world) => ({ ...plain, retry: { ...plain.retry, shouldRetry: never(world, "shouldRetry") } }),
    script: [slow(broken), ok],
    ends: ["loading", 1],
  },
  {
    name: "a body factory that never answers",
    client: () => plain,
    init: (world) => ({ method: "POST", bodyFactory: never(world, "bodyFactory") }),
    script: [ok],
    ends: ["loading", 0],
  },
  {
    name: "a body factory that answers at once",
    client: () => plain,
    init: (world) => ({
      method: "PUT",
      bodyFactory: () => {
        world.hook("bodyFactory");
        return "text";
      },
    }),
    script: [slow(broken), slow(ok)],
    ends: ["success", 2],
  },
  {
    name: "a body factory that answers later",
    client: () => ({ ...plain, timeout: 1_000 }),
    init: (world) => ({
      method: "PUT",
      body: async () => {
        world.hook("bodyFactory");
        await world.sleep(30);
        world.inside("bodyFactory, later");
        return new Blob(["text"]);
      },
    }),
    script: [broken, slow(ok)],
    ends: ["success", 2],
  },
  {
    name: "a call that is held",
    client: () => ({ retry: { limit: 1, delay: 100, jitter: "none" }, onExhausted: "hold" }),
    script: [slow(broken), broken],
    ends: ["exhausted", 2],
  },
  {
    name: "the limit of an attempt",
    client: () => ({ ...plain, timeout: 50 }),
    script: [{ after: "pend" }, slow(ok)],
    ends: ["success", 2],
  },
  {
    name: "the limit of an attempt, with each hook",
    client: (world) => ({ ...hooked(world, true), timeout: 50 }),
    script: [{ after: "pend" }, slow(ok)],
    ends: ["success", 2],
  },
  {
    name: "the limit of the whole call",
    client: () => ({ ...plain, totalTimeout: 50 }),
    script: [{ after: "pend" }],
    ends: ["exhausted", 1],
  },
  {
    name: "both limits at the same moment",
    client: () => ({ ...plain, timeout: 50, totalTimeout: 50 }),
    script: [{ after: "pend" }],
    ends: ["exhausted", 1],
  },
  {
    name: "a wait that the limit of the whole call cuts short",
    client: () => ({ ...plain, totalTimeout: 90 }),
    script: [slow(broken)],
    ends: ["exhausted", 1],
  },
  {
    name: "a fetch that is deaf to its signal",
    client: () => ({ ...plain, timeout: 50 }),
    script: [
      { ...slow(ok, 300), deaf: true },
      { ...slow(ok, 45), deaf: true },
    ],
    ends: ["success", 2],
  },
  {
    name: "a fetch that throws",
    client: (world) => ({
      ...plain,
      fetch: (request) => {
        if (world.threw) return world.fetch(request);
        world.threw = true;
        world.hook("fetch of its own");
        throw new TypeError("no");
      },
    }),
    script: [slow(ok)],
    ends: ["success", 1],
  },
];

/** A client, three calls, answers and events that a seed decides. */
export function anyScenario(world, seed) {
  const next = random(seed ^ 0x5eed);
  const chance = (p) => next() < p;
  const some = (...all) => all[Math.floor(next() * all.length)];
  const within = (ms) => Math.floor(next() * ms);
  const hooks = some(
    () => plain,
    () => hooked(world),
    () => hooked(world, true),
  )();
  const client = {
    ...hooks,
    retry: { ...hooks.retry, limit: some(0, 1, 3) },
    breaker: { ...hooks.breaker, consecutiveFailures: some(2, 3, 0), halfOpenAfter: 500, maxOpen: 1_000 },
    onCircuitOpen: some("wait", "reject"),
    onOffline: some("wait", "reject", "ignore"),
    onExhausted: some("settle", "settle", "hold"),
    timeout: some(false, 60),
    totalTimeout: some(false, false, 400),
    throwHttpErrors: chance(0.3),
  };
  const made = (later) => {
    world.hook("bodyFactory");
    return later ? world.sleep(20).then(() => "text") : "text";
  };
  const call = () => ({
    after: some(0, 0, 10, within(300)),
    init: some(
      {},
      { method: "POST", body: "text" },
      { method: "PUT", bodyFactory: () => made(false) },
      { method: "PUT", body: () => made(true) },
      { covers: "body" },
    ),
    read: chance(0.3),
  });
  const answer = () => {
    const step = some(ok, ok, broken, broken, {}, busy(some(0, 1)), { after: "pend" });
    const more = { chunks: some(1, 2), every: some(undefined, 10, 30), deaf: chance(0.15) };
    if (step.after === "pend") return client.timeout ? step : ok;
    return { ...more, ...step, ...(more.deaf || chance(0.6) ? { after: within(90) } : {}) };
  };
  const events = [];
  if (chance(0.3)) {
    const gone = within(200);
    events.push([gone, (it) => it.go(false)], [gone + within(300), (it) => it.go(true)]);
  }
  return {
    client,
    calls: [call(), call(), call()],
    script: Array.from({ length: 12 }, answer).concat(ok),
    events,
    observed: chance(0.3),
    wayName: some("init", "request", "both", "cancel", "dispose", "child"),
  };
}
