// The virtual clock: what the client, and whatever else is tested, reads the time from and sets its timers with.
import type * as Api from "../testing.js";
import { Replaced } from "./replace.ts";
import { Timers } from "./timers.ts";
import { realTurn } from "./turns.ts";

/** As the fake timers of test runners mark theirs, so that they and this one know of each other. */
const fakes = (): boolean => "isFake" in Date || "clock" in setTimeout;

/** A Date that takes the present from `now`; all else is the real one's. */
function virtualDate(real: DateConstructor, now: () => number): DateConstructor {
  const own = { __proto__: null, now, isFake: true };
  return new Proxy(real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
    apply: (target) => new target(now()).toString(),
    get: (target, name, receiver) =>
      name in own ? own[name as keyof typeof own] : Reflect.get(target, name, receiver),
    has: (target, name) => name in own || name in target,
  });
}

/** Whether the platform gives objects for timers, as Node does. */
function givesObjects(): boolean {
  const timer: unknown = setTimeout(() => {}, 0);
  clearTimeout(timer as number);
  return typeof timer === "object";
}

export const virtualClock: typeof Api.virtualClock = ({ now = Date.now() } = {}) => {
  const wall = Number(now);
  if (!Number.isFinite(wall)) throw new TypeError("steadfetch/testing: now must be a Date or milliseconds since 1970");
  if (fakes()) {
    throw new Error("steadfetch/testing: the clock is a virtual one already; use that or this one, not both");
  }
  const mono = performance.now();
  const turn = realTurn();
  const objects = givesObjects();
  const { clearTimeout: clearReal } = globalThis;
  const replaced = new Replaced();
  let elapsed = 0;
  let installed = true;
  let last: Promise<void> = Promise.resolve();
  const timers = new Timers(() => elapsed);

  const set =
    (repeats: boolean) =>
    (callback: unknown, ms?: unknown, ...args: unknown[]): unknown => {
      const timer = timers.add_(callback, ms, args, repeats);
      return objects ? timer : timer.id_;
    };
  const clear = (id: unknown): void => {
    // It may be from before.
    if (!timers.delete_(id)) clearReal(id as number);
  };

  async function advanceTo(end: number): Promise<void> {
    await turn();
    while (installed) {
      const timer = timers.next_(end);
      if (!timer) break;
      elapsed = Math.max(elapsed, timer.at_);
      if (timer.every_ !== undefined) timer.refresh();
      timer.call_();
      await turn();
    }
    if (!installed) throw new Error("steadfetch/testing: the virtual clock has been restored");
    elapsed = end;
  }

  const clock: Api.VirtualClock = {
    get elapsed() {
      return elapsed;
    },
    get timers() {
      return timers.count_;
    },
    advance(ms) {
      if (!(ms >= 0 && ms < Infinity)) {
        return Promise.reject(new RangeError("steadfetch/testing: advance() takes a number of milliseconds"));
      }
      const move = last.then(() => advanceTo(elapsed + ms));
      last = move.catch(() => {});
      return move;
    },
    restore() {
      installed = false;
      replaced.restore_();
    },
    [Symbol.dispose]() {
      clock.restore();
    },
  };

  const later = set(false);
  // What util.promisify() of Node makes of it.
  const promised = (ms: number, value: unknown): Promise<unknown> =>
    new Promise((resolve) => later(() => resolve(value), ms));
  const forNode = { [Symbol.for("nodejs.util.promisify.custom")]: promised };
  replaced.put_(globalThis, "setTimeout", Object.assign(later, { clock }, forNode));
  replaced.put_(globalThis, "setInterval", Object.assign(set(true), { clock }));
  replaced.put_(globalThis, "clearTimeout", clear);
  replaced.put_(globalThis, "clearInterval", clear);
  replaced.put_(
    globalThis,
    "Date",
    virtualDate(Date, () => wall + elapsed),
  );
  replaced.put_(performance, "now", () => mono + elapsed);
  return clock;
};
