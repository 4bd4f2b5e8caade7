// Calls of every ending, many thousands at a time, in a page or in Node alike: what they leave behind is what
// tests/leak.test.mjs and benches/leak.mjs look at. It refers to nothing but its arguments and globals.

/** Longer than any round takes. */
const LONG = 3_600_000;
const QUICK = { limit: 1, delay: 0, jitter: "none" };
const SLOW = { limit: 1, delay: LONG, maxDelay: LONG, jitter: "none" };
const OPEN = { key: () => "held open" };

/** A fetch without a network: the path says how it ends. */
async function answer(request) {
  const { pathname } = new URL(request.url);
  const { signal } = request;
  switch (pathname) {
    case "/breaks":
      throw new TypeError("no network");
    case "/nothing":
      return undefined;
    case "/never":
      return new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    case "/later":
      return new Response("", { status: 503, headers: { "Retry-After": "86400" } });
    default:
      return new Response(request.method === "HEAD" ? null : "a body", { status: Number(pathname.slice(1)) });
  }
}

/** Fails once, then answers. */
function recovering() {
  let sent = 0;
  return async () => new Response("a body", { status: sent++ ? 200 : 503 });
}

/**
 * Each ending by its name: what is asked for, and with which options; what is done with the call then; how it ends. One
 * that is `aborted` stays until the signal of its round is, the others end by themselves. A signal that lives on is
 * given to all besides.
 */
const ENDINGS = {
  success: { path: "/200", ends: "success" },
  "success, its body read": { path: "/200", init: { covers: "body" }, ends: "success" },
  "success at the second attempt": { path: "/x", init: () => ({ retry: QUICK, fetch: recovering() }), ends: "success" },
  "success by retryNow()": {
    path: "/x",
    init: () => ({ retry: SLOW, fetch: recovering() }),
    act: (call) => once(call, "waiting", () => call.retryNow()),
    ends: "success",
  },
  "success by retry()": {
    path: "/x",
    init: () => ({ retry: false, fetch: recovering() }),
    act: (call) => once(call, "exhausted", () => call.retry()),
    ends: "success",
  },
  "success of a write": {
    path: "/x",
    init: () => ({ method: "POST", body: "text", idempotencyKey: "auto", retry: QUICK, fetch: recovering() }),
    ends: "success",
  },
  "success of a body factory": {
    path: "/x",
    init: () => ({ method: "PUT", body: async () => "text", retry: QUICK, fetch: recovering() }),
    ends: "success",
  },
  "success after hooks": {
    path: "/x",
    init: () => ({
      retry: {
        ...QUICK,
        shouldRetry: async () => true,
        delay: async () => 0,
        beforeRetry: async ({ request }) => new Request(request, { headers: { "X-Again": "1" } }),
      },
      fetch: recovering(),
    }),
    ends: "success",
  },
  "failed for good": { path: "/404", ends: "failed" },
  "failed with an HttpError": { path: "/404", init: { throwHttpErrors: true }, ends: "failed" },
  "failed, not idempotent": { path: "/503", init: { method: "POST", body: "text" }, ends: "failed" },
  "failed, vetoed": { path: "/503", init: { retry: { ...QUICK, shouldRetry: () => false } }, ends: "failed" },
  "failed, a hook threw": {
    path: "/503",
    init: {
      retry: {
        ...QUICK,
        shouldRetry() {
          throw new Error("by the hook");
        },
      },
    },
    ends: "failed",
  },
  "failed, no request": { path: "/200", init: { method: "TRACE" }, ends: "failed" },
  "failed, no option": { path: "/200", init: { retry: "often" }, ends: "failed" },
  "failed, no response": { path: "/nothing", ends: "failed" },
  "failed, offline": { path: "/200", init: { onOffline: "reject" }, offline: true, ends: "failed" },
  "exhausted by statuses": { path: "/503", init: { retry: QUICK }, ends: "exhausted" },
  "exhausted by the network": { path: "/breaks", init: { retry: QUICK }, ends: "exhausted" },
  "exhausted by timeouts": { path: "/never", init: { retry: QUICK, timeout: 1 }, ends: "exhausted" },
  "exhausted by the whole time": { path: "/never", init: { totalTimeout: 1 }, ends: "exhausted" },
  "exhausted by Retry-After": { path: "/later", ends: "exhausted" },
  "exhausted by the budget": {
    path: "/503",
    init: {
      retry: QUICK,
      breaker: { key: () => "poor", consecutiveFailures: 0, failureRate: 1, minimumCalls: 1e6 },
      budget: {},
    },
    ends: "exhausted",
  },
  "held, then cancelled": {
    path: "/503",
    init: { retry: false, onExhausted: "hold" },
    act: (call) => once(call, "exhausted", () => call.cancel()),
    ends: "cancelled",
  },
  "held, then retried": {
    path: "/x",
    init: () => ({ retry: false, onExhausted: "hold", fetch: recovering() }),
    act: (call) => once(call, "exhausted", () => call.retry()),
    ends: "success",
  },
  "circuit open": { path: "/200", init: { breaker: OPEN }, ends: "circuit-open" },
  "a circuit of its own": {
    path: "/200",
    init: (number) => ({ breaker: { key: () => `key ${number}` }, budget: {} }),
    ends: "success",
  },
  "cancelled before": { path: "/200", init: () => ({ signal: AbortSignal.abort() }), ends: "cancelled" },
  "cancelled during": { path: "/never", aborted: true, ends: "cancelled" },
  "cancelled while waiting": { path: "/503", init: { retry: SLOW }, aborted: true, ends: "cancelled" },
  "cancelled while waiting, with a countdown": {
    path: "/503",
    init: { retry: SLOW },
    act: (call) => call.subscribe(() => {}),
    aborted: true,
    ends: "cancelled",
  },
  "cancelled in the queue": {
    path: "/200",
    init: { breaker: OPEN, onCircuitOpen: "wait" },
    aborted: true,
    ends: "cancelled",
  },
  "cancelled while offline": {
    path: "/200",
    offline: true,
    act: (call) => call.cancel(),
    ends: "cancelled",
  },
  "cancelled by cancel()": { path: "/never", act: (call) => call.cancel(), ends: "cancelled" },
  "cancelled by its own listener": {
    path: "/503",
    init: { retry: SLOW },
    act: (call) => once(call, "waiting", () => call.cancel()),
    ends: "cancelled",
  },
  "cancelled, its states read": {
    path: "/503",
    init: { retry: SLOW },
    act: async (call) => {
      for await (const state of call) if (state.status === "waiting") break;
    },
    aborted: true,
    ends: "cancelled",
  },
};

/** Does something once a call is in that state and everybody has been told. */
function once(call, status, act) {
  const off = call.subscribe((state) => {
    if (state.status !== status) return;
    queueMicrotask(() => {
      off();
      act();
    });
  });
}

/** The listeners that a signal has from now on: how many. */
function countListeners(signal) {
  const listeners = new Set();
  for (const [name, act] of Object.entries({ addEventListener: "add", removeEventListener: "delete" })) {
    const native = signal[name];
    signal[name] = function (type, listener, options) {
      listeners[act](listener);
      return native.call(this, type, listener, options);
    };
  }
  return () => listeners.size;
}

/** The memories of all WebAssembly that is made from now on: their bytes. */
export function countMemory() {
  const memories = [];
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(target, args) {
      const instance = new target(...args);
      memories.push(...Object.values(instance.exports).filter((value) => value instanceof WebAssembly.Memory));
      return instance;
    },
  });
  return () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}

/** More circuits than a client keeps, so that it has as many as it ever will. */
async function fill(client) {
  for (let i = 0; i < 1_200; i++) await client("http://127.0.0.1/200", { breaker: { key: () => `of the first ${i}` } });
}

/** @param {typeof import("steadfetch")} steadfetch  the package's exports */
export function world({ createFetch }) {
  let online = true;
  Object.defineProperty((globalThis.navigator ??= {}), "onLine", { get: () => online, configurable: true });

  const lasting = new AbortController().signal;
  const listeners = countListeners(lasting);
  const all = Object.entries(ENDINGS);
  const ends = Object.fromEntries(all.map(([name]) => [name, {}]));
  let number = 0;

  const make = () => {
    const client = createFetch({ fetch: answer, breaker: false, budget: false, timeout: false });
    client.circuits.isolate("held open");
    return client;
  };
  const client = make();
  const filled = fill(client);

  /** Begins a call. How it ended is there when it has. */
  async function begin(name, client, signal, plain) {
    const { path, init = {}, act } = ENDINGS[name];
    const url = `http://127.0.0.1${path}`;
    const given = typeof init === "function" ? init(number) : init;
    // By turns the signal is the call's, or that of a Request.
    const input = number++ % 2 ? new Request(url, { signal }) : url;
    const options = { signal: input === url ? signal : lasting, ...given };
    let end = "plain";
    if (plain && !act) await client(input, options).catch(() => {});
    else {
      const call = client.start(input, options);
      act?.(call);
      let settled;
      do await (settled = call.response).catch(() => {});
      while (settled !== call.response);
      end = call.state.status;
    }
    ends[name][end] = (ends[name][end] ?? 0) + 1;
  }

  /** So many calls at once, of all endings in turn, by clients that stay, that are disposed of and that are forgotten. */
  async function round(calls) {
    await filled;
    const controller = new AbortController();
    const disposed = make();
    disposed.addEventListener("statechange", () => {});
    const clients = [client, client.extend({ throwHttpErrors: true }), disposed, make()];
    const [own, others] = [[], []];
    for (const away of [true, false]) {
      online = !away;
      for (let i = 0; i < calls; i++) {
        const [name, { offline = false, aborted }] = all[i % all.length];
        if (offline !== away) continue;
        const pass = Math.floor(i / all.length);
        const over = begin(name, clients[pass % clients.length], controller.signal, pass % 3 === 0);
        (aborted ? others : own).push(over);
      }
    }
    await Promise.all(own);
    disposed.dispose();
    controller.abort();
    await Promise.all(others);
  }

  /** What is left. */
  function left() {
    const { loading, waiting, offline, queued } = client.getSnapshot();
    return { listeners: listeners(), live: client.calls().length, pending: loading + waiting + offline + queued };
  }

  return { lasting, ends, round, left, expected: Object.fromEntries(all.map(([name, { ends }]) => [name, ends])) };
}
