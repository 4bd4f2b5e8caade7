// A world in steps, for Node and for pages: its timers, clocks, network and randomness are ours, and nothing happens in
// it but one step after the other. A step is what runs code of the caller's (a hook, a listener, fetch, a chunk of a
// body), what begins a macrotask (a timer, an event), or one of the microtasks after it. One step may be the one at
// which the caller gives up.

export const WALL = Date.UTC(2030, 0, 1);

/** The next macrotask. */
const turn = globalThis.setImmediate
  ? () => new Promise((resolve) => setImmediate(resolve))
  : (() => {
      const { port1, port2 } = new MessageChannel();
      const due = [];
      port1.onmessage = () => due.shift()();
      return () =>
        new Promise((resolve) => {
          due.push(resolve);
          port2.postMessage(0);
        });
    })();

/** Numbers in [0, 1) that a seed decides (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

let world;

/** Puts the present World in the place of the platform; what it returns takes it away. */
export function install() {
  const undo = [];
  const set = (holder, name, descriptor) => {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, { configurable: true, ...descriptor });
    undo.unshift(() => (before ? Object.defineProperty(holder, name, before) : delete holder[name]));
  };
  const put = (holder, name, value) => set(holder, name, { writable: true, value });
  const noted = (error) => world?.unhandled.push(String(error));
  if (globalThis.process?.on) {
    process.on("unhandledRejection", noted);
    undo.push(() => process.off("unhandledRejection", noted));
  } else {
    const listener = (event) => noted(event.reason);
    const { removeEventListener } = globalThis;
    addEventListener("unhandledrejection", listener);
    undo.push(() => removeEventListener.call(globalThis, "unhandledrejection", listener));
  }
  put(globalThis, "setTimeout", (callback, ms = 0, ...args) => world.set(() => callback(...args), ms, "ours"));
  put(globalThis, "clearTimeout", (id) => world.timers.delete(id));
  put(performance, "now", () => 5_000 + world.t);
  put(Date, "now", () => WALL + world.t);
  put(crypto, "getRandomValues", (array) => {
    array.forEach((_, index) => {
      array[index] = Math.floor(world.random() * 2 ** 32);
    });
    return array;
  });
  put(Math, "random", () => world.random());
  put(globalThis, "fetch", (...args) => world.fetch(...args));
  put(globalThis, "reportError", (error) => world.reported.push(error));
  put(globalThis, "addEventListener", (type, listener) => world.listen(type, listener, 1));
  put(globalThis, "removeEventListener", (type, listener) => world.listen(type, listener, -1));
  if (globalThis.document) set(navigator, "onLine", { get: () => world.online });
  else set(globalThis, "navigator", { get: () => ({ onLine: world.online }) });
  for (const name of ["error", "warn"]) put(console, name, (...args) => world?.unhandled.push(args.join(" ")));
  return () => {
    for (const step of undo) step();
  };
}

export class World {
  t = 0;
  online = true;
  timers = new Map();
  random;
  /** What was thrown and nobody caught, and what reportError was given. */
  unhandled = [];
  reported = [];
  /** The name of each step so far; none is counted before `counting`. */
  steps = [];
  counting = false;
  /** At this step `giveUp` is called. */
  at = -1;
  giveUp = () => {};
  throws = false;
  /** Which steps are in functions of the caller's that may throw. */
  within = [];
  /** The caller has given up, and a macrotask has passed since then. */
  gaveUp = false;
  turned = false;
  onTurn = () => {};
  /** The client is disposed of, and has no other calls. */
  disposed = false;
  /** What hooks were called and requests sent, as [name, after the abort]. */
  called = [];
  /** The answers, and what became of the body of each: "open", "read", "cancelled" or "broken". */
  bodies = new Map();
  signals = [];

  #ticks;
  #window = new Map();
  #script = [];
  #lastId = 0;

  constructor(seed, ticks) {
    this.random = random(seed);
    this.#ticks = ticks;
    world = this;
  }

  // ------------------------------------------------------------ steps

  step(name) {
    if (!this.counting || this.gaveUp) return false;
    const number = this.steps.push(name) - 1;
    if (number !== this.at) return false;
    this.gaveUp = true;
    this.giveUp();
    return true;
  }

  /** A step in a function of the caller's; where `throws`, the one that gives up there throws as well. */
  inside(name) {
    if (this.counting) this.within.push(this.steps.length);
    if (this.step(name) && this.throws) throw new Error(`thrown by ${name}`);
  }

  /** A hook or a request: none comes after the abort. */
  hook(name) {
    this.called.push([name, this.gaveUp]);
    this.inside(name);
  }

  /** A step in each of the microtasks to come. */
  tick(number = 0) {
    if (number === this.#ticks || this.gaveUp) return;
    queueMicrotask(() => {
      this.step(`microtask ${number}`);
      this.tick(number + 1);
    });
  }

  /** All that is due now, and what streams put off to the next turn. */
  async drain() {
    for (let i = 0; i < 2; i++) {
      await turn();
      if (!this.gaveUp || this.turned) continue;
      this.turned = true;
      this.onTurn();
    }
  }

  /** Lets the time pass until t, or until `over`. */
  async to(t, over = () => false) {
    await this.drain();
    while (!over()) {
      const id = this.#next(t);
      if (id === undefined) break;
      const timer = this.timers.get(id);
      this.t = Math.max(this.t, timer.at);
      if (this.step(`before ${timer.name}`)) await this.drain();
      // It may have been cleared.
      if (!this.timers.delete(id)) continue;
      timer.run();
      this.tick();
      await this.drain();
    }
    if (!over()) this.t = Math.max(this.t, t);
  }

  /** The timer that is next; of several, one by chance. */
  #next(t) {
    let best = [];
    let at = t;
    for (const [id, timer] of this.timers) {
      if (timer.at > at) continue;
      if (timer.at < at) best = [];
      at = timer.at;
      best.push(id);
    }
    return best.length > 1 ? best[Math.floor(this.random() * best.length)] : best[0];
  }

  // ------------------------------------------------------------ timers and events

  set(run, ms, name) {
    const id = ++this.#lastId;
    this.timers.set(id, { at: this.t + Math.max(0, ms), run, name });
    return id;
  }

  sleep(ms) {
    return new Promise((resolve) => this.set(resolve, ms, "sleep"));
  }

  get liveTimers() {
    return [...this.timers.values()].filter((timer) => timer.name === "ours").length;
  }

  listen(type, listener, by) {
    const all = this.#window.get(type) ?? new Set();
    this.#window.set(type, all);
    if (by > 0) all.add(listener);
    else all.delete(listener);
  }

  get listening() {
    return [...this.#window].filter(([, all]) => all.size).map(([type]) => type);
  }

  go(online) {
    this.online = online;
    const type = online ? "online" : "offline";
    for (const listener of [...(this.#window.get(type) ?? [])]) listener(new Event(type));
  }

  /** Counts what listens to a signal of the caller's. */
  watch(signal) {
    const listeners = new Set();
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (type, listener, options) => {
      listeners.add(listener);
      addEventListener.call(signal, type, listener, options);
    };
    signal.removeEventListener = (type, listener, options) => {
      listeners.delete(listener);
      removeEventListener.call(signal, type, listener, options);
    };
    this.signals.push(listeners);
    return signal;
  }

  // ------------------------------------------------------------ fetch

  /** What fetch answers; the last one repeats. See `fetch`. */
  script(...steps) {
    this.#script = steps;
  }

  /**
   * Does what the script says: { after, status, headers, chunks, every, deaf }, where no `after` is at once, no status
   * is a network failure and "pend" is never. One that is `deaf` does not hear of its signal.
   */
  fetch(input, init) {
    const request = init ? new Request(input, init) : input;
    const { signal } = request;
    const step = this.#script.length > 1 ? this.#script.shift() : this.#script[0];
    this.hook(`fetch ${new URL(request.url).pathname}`);
    if (signal.aborted && !step.deaf) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const answer = () => {
        if (signal.aborted && !step.deaf) return;
        if (!step.status) return reject(new TypeError("no network"));
        const body = { state: "open" };
        const init = { status: step.status, headers: step.headers };
        const response = new Response(this.#stream(body, step, signal), init);
        this.bodies.set(response, body);
        resolve(response);
      };
      if (!step.deaf) {
        signal.addEventListener("abort", () => {
          this.step("the abort of a request");
          reject(signal.reason);
        });
      }
      if (step.after === undefined) answer();
      else if (step.after !== "pend") this.set(answer, step.after, "answer");
    });
  }

  /** A body of so many chunks, one after the other when they are asked for. */
  #stream(body, { chunks = 1, every, deaf }, signal) {
    let left = chunks;
    const source = {
      pull: async (controller) => {
        this.step("chunk");
        if (every) await this.sleep(every);
        if (body.state !== "open") return;
        controller.enqueue(new TextEncoder().encode("chunk "));
        if (--left) return;
        body.state = "read";
        controller.close();
      },
      cancel: () => {
        body.state = "cancelled";
        this.step("cancel of a body");
      },
      start: (controller) => {
        if (deaf) return;
        signal.addEventListener("abort", () => {
          if (body.state !== "open") return;
          body.state = "broken";
          controller.error(signal.reason);
        });
      },
    };
    return new ReadableStream(source, { highWaterMark: 0 });
  }
}
