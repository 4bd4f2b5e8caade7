// A clock of the page that passes only as told, in the page. Bundled.

import { install } from "@sinonjs/fake-timers";

const KEPT = ["nextTick", "queueMicrotask", "Intl"];
const all = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"];
const frames = ["requestAnimationFrame", "cancelAnimationFrame", "requestIdleCallback", "cancelIdleCallback"];

let clock;

/** All clocks stand still, or the date alone. */
export function stop({ at, dateOnly }) {
  clock?.uninstall();
  const toFake = dateOnly ? ["Date"] : [...all, ...frames].filter((name) => name in globalThis && !KEPT.includes(name));
  // The page may have timers from before.
  clock = install({ now: at, toFake, shouldClearNativeTimers: true });
}

export const runFor = (ms) => clock.tickAsync(ms);
