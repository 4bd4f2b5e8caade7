// A page without a browser for the behavioural cases: timers, both clocks, fetch and window events are ours, and time
// passes only when a case says so.
//
//   const page = new Page();
//   page.script(503, 200);                          // what fetch answers; the last step repeats
//   const call = page.see(createFetch(D0)(URL_));   // becomes { at, value } or { at, error }
//   await page.to(100);                             // runs the timers due until then, microtasks between them
//   page.times                                      // when fetch was called

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What the package compiles and instantiates, as it is loaded in this process; see without-wasm.mjs, too. */
export const wasm = { bytes: undefined, memory: undefined };
if (globalThis.WebAssembly) {
  const { Module, Instance } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(bytes) {
      super(bytes);
      wasm.bytes ??= bytes;
    }
  };
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      super(...args);
      wasm.memory ??= Object.values(this.exports).find((it) => it instanceof WebAssembly.Memory);
    }
  };
}

export const IDS = `
  B001 B003 B004 B005 B006 B010 B011 B012 B014 B015 B016 B019 B021 B022 B025 B026 B028 B030 B032 B033 B036 B037 B039
  B040 B041 B042 B044 B048 B049 B052 B055 B056 B058 B059 B060 B062 B063 B064 B066 B067 B068 B072 B073 B074 B075 B076
  B077 B081 B084 B085 B087 B088 B089 B090 B091 B095 B097 B098 B099 B101 B104 B105 B106 B108 B111 B112 B114 B115 B116
  B120 B121 B122 B123 B125 B128 B129 B131 B132 B133 B136 B137 B139 B141 B143 B144 B149 B150 B155 B156 B157 B158 B159
  B160 B166 B174 B175 B176 B177 B178 B181 B182 B183 B185 B186 B187 B188 B189 B190 B193 B195 B198 B199 B201 B202 B203
  B204 B205
`
  .trim()
  .split(/\s+/);

export const URL_ = "https://a.test/x";

/** Four attempts, waits of 100, 200 and 400 ms, nothing else. */
export const D0 = {
  retry: {
    limit: 3,
    delay: 100,
    factor: 2,
    backoffLimit: 10_000,
    jitter: "none",
    maxRetryAfter: 3_600_000,
    statusCodes: [408, 425, 429, 500, 502, 503, 504],
    methods: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"],
  },
  timeout: false,
  breaker: false,
  budget: false,
};

/** One attempt; three failures in a row open the circuit for exactly a second. */
export const B0 = {
  retry: { limit: 0, delay: 100, jitter: "none" },
  timeout: false,
  budget: false,
  breaker: { consecutiveFailures: 3, minimumCalls: 1_000_000, halfOpenAfter: 1_000, maxOpen: 1_000 },
};

/** These options with others over them, one level deep. */
export function over(base, more) {
  const merged = { ...base, ...more };
  for (const name of ["retry", "breaker"]) {
    if (base[name] && more[name]) merged[name] = { ...base[name], ...more[name] };
  }
  return merged;
}

const real = { setImmediate, performanceNow: performance.now };
const WALL = Date.UTC(2030, 0, 1);
const NULL_BODY = [101, 204, 205, 304];

/** All that is due now: microtasks, and what Node's streams put off to its next turn. */
async function drain() {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => real.setImmediate(resolve));
}

export class Page {
  t = 0;
  /** What the wall clock and the monotonic one are off by. */
  wallShift = 0;
  monoShift = 0;
  /** { at, request, signal } of each call of fetch. */
  calls = [];
  /** The delays given to setTimeout. */
  delays = [];
  /** What a timer makes of its delay. */
  stretch = (ms) => ms;
  /** A timer that is cleared is delivered all the same, once. */
  deliversCleared = false;
  reported = [];
  /** Signals that have to be without listeners in the end. */
  signals = new Set();
  seen = [];
  window = new EventTarget();
  online = true;
  hidden = false;

  #timers = new Map();
  #lastId = 0;
  #steps = [];
  #undo = [];
  #unhandled = [];
  #errors = [];

  constructor() {
    const set = (holder, name, descriptor) => {
      const before = Object.getOwnPropertyDescriptor(holder, name);
      Object.defineProperty(holder, name, { configurable: true, ...descriptor });
      this.#undo.push(() => {
        if (before) Object.defineProperty(holder, name, before);
        else delete holder[name];
      });
    };
    const put = (holder, name, value) => set(holder, name, { writable: true, value });
    const page = this;
    put(globalThis, "setTimeout", function (callback, ms = 0, ...args) {
      // As in a browser, which wants to be called on its window.
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      page.delays.push(ms);
      return page.#set(() => callback(...args), page.stretch(Math.max(0, ms)), true);
    });
    put(globalThis, "clearTimeout", function (id) {
      if (this !== undefined && this !== globalThis) throw new TypeError("Illegal invocation");
      const timer = page.#timers.get(id);
      if (!timer) return;
      timer.ours = false;
      if (!page.deliversCleared) page.#timers.delete(id);
    });
    put(performance, "now", () => 5_000 + this.t + this.monoShift);
    put(Date, "now", () => WALL + this.t + this.wallShift);
    put(globalThis, "fetch", (input, init) => this.#fetch(input, init));
    put(globalThis, "reportError", (error) => this.reported.push(error));
    for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
      put(globalThis, name, this.window[name].bind(this.window));
    }
    set(globalThis, "navigator", { get: () => ({ onLine: this.online }) });
    set(globalThis, "document", { get: () => ({ visibilityState: this.hidden ? "hidden" : "visible" }) });
    for (const name of ["error", "warn"]) put(console, name, (...args) => this.#errors.push(args));
    const noted = (error) => this.#unhandled.push(error);
    process.on("unhandledRejection", noted);
    this.#undo.push(() => process.off("unhandledRejection", noted));
  }

  close() {
    for (const undo of this.#undo.reverse()) undo();
  }

  // ------------------------------------------------------------ time

  get wall() {
    return Date.now();
  }

  get timers() {
    return [...this.#timers.values()].filter((timer) => timer.ours).length;
  }

  #set(callback, ms, ours) {
    const id = ++this.#lastId;
    this.#timers.set(id, { at: this.t + ms, callback, ours });
    return id;
  }

  /** Something that a case does at that time. */
  at(t, act) {
    this.#set(act, t - this.t, false);
  }

  sleep(ms) {
    return new Promise((resolve) => this.#set(resolve, ms, false));
  }

  /** Lets the time pass until t. */
  async to(t) {
    await drain();
    for (;;) {
      let next;
      for (const [id, timer] of this.#timers) {
        if (timer.at <= t && (!next || timer.at < next[1].at)) next = [id, timer];
      }
      if (!next) break;
      this.t = Math.max(this.t, next[1].at);
      this.#timers.delete(next[0]);
      next[1].callback();
      await drain();
    }
    this.t = Math.max(this.t, t);
    await drain();
  }

  /** What becomes of a promise, and when. */
  see(promise) {
    const seen = { at: undefined };
    Promise.resolve(promise).then(
      (value) => Object.assign(seen, { at: this.t, value }),
      (error) => Object.assign(seen, { at: this.t, error, rejected: true }),
    );
    return seen;
  }

  /** An AbortController whose signal has to be without listeners in the end. */
  controller() {
    const controller = new AbortController();
    this.signals.add(controller.signal);
    return controller;
  }

  // ------------------------------------------------------------ fetch

  /** A step is a status, an Error to reject with, "pend", a Response, an object with `after` and one of these, or a function that gives one. */
  script(...steps) {
    this.#steps = steps;
    this.calls = [];
    return this;
  }

  get times() {
    return this.calls.map((call) => call.at);
  }

  #fetch(input, init) {
    const request = input instanceof Request && !init ? input : new Request(input, init);
    const { signal } = request;
    const number = this.calls.push({ at: this.t, request, signal });
    const step = this.#steps.length > 1 && number < this.#steps.length ? this.#steps[number - 1] : this.#steps.at(-1);
    if (signal.aborted) return Promise.reject(signal.reason);
    return this.#answer(step, request, number);
  }

  #answer(step, request, number) {
    if (typeof step === "function") return step(request, number, this);
    if (typeof step === "number") return Promise.resolve(answer(step));
    if (step instanceof Response) return Promise.resolve(step);
    if (step instanceof Error) return Promise.reject(step);
    const { signal } = request;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      if (step === "pend") return;
      this.#set(() => resolve(this.#answer(step.then_, request, number)), step.after, false);
    });
  }

  // ------------------------------------------------------------ the end

  /** Nothing is left of the calls of a case. */
  async cleanEnd() {
    await drain();
    assert.deepEqual(this.#unhandled, [], "unhandled rejections");
    assert.equal(this.timers, 0, "live timers");
    for (const signal of this.signals) {
      assert.equal(getEventListeners(signal, "abort").length, 0, "listeners on the caller's signal");
    }
    for (const type of ["online", "offline", "pageshow", "pagehide", "unload", "beforeunload", "visibilitychange"]) {
      assert.equal(getEventListeners(this.window, type).length, 0, `listeners for ${type}`);
    }
    assert.deepEqual(this.#errors, [], "console errors");
    assert.deepEqual(this.reported, [], "reported errors");
    for (const ms of this.delays) assert.ok(ms >= 0 && ms < 2 ** 31, `a timer of ${ms} ms`);
  }

  /** What was reported so far; the case expects it. */
  takeReported() {
    return this.reported.splice(0);
  }
}

/** An answer as a server gives it; `headers` and `body` where it has some. */
export function answer(status, { headers, body = `body ${status}` } = {}) {
  return new Response(NULL_BODY.includes(status) ? null : body, { status, headers });
}

/** The same after so many milliseconds, unless it is aborted before. */
export const after = (ms, step) => ({ after: ms, then_: step });

/** A body that a case feeds, and that hears of its signal as that of a real fetch does. */
export function fed(signal) {
  const body = { cancelled: 0 };
  body.stream = new ReadableStream({
    start: (controller) => {
      body.push = (text) => controller.enqueue(new TextEncoder().encode(text));
      body.end = () => controller.close();
      body.fail = (error) => controller.error(error);
    },
    cancel: () => {
      body.cancelled++;
    },
  });
  signal?.addEventListener("abort", () => body.fail(signal.reason), { once: true });
  return body;
}

/** A case: a page of its own, and a clean end. */
export function scenario(name, body, options = {}) {
  test(name, { timeout: 60_000, ...options }, async () => {
    const page = new Page();
    try {
      await body(page);
      await page.cleanEnd();
    } finally {
      page.close();
    }
  });
}

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

/** Collects what nobody holds, finalizers included. */
export async function collect() {
  for (let i = 0; i < 4; i++) {
    await drain();
    gc();
  }
  await drain();
}
