// What a fact is given besides the package, in Node and in a page alike.

import { inspect } from "node:util";

/** The text of an expression that calls `act` where the package's exports are at hand as `steadfetch`. */
export function program(act, where, input) {
  return `(${act})((${toolkit})(steadfetch, ${literal(where)}), ${literal(input)})`;
}

/** Runs `act` in a page of that server. What it stores on `globalThis` stays for the next one. */
export const actInPage = (page, { url, origin2, closedUrl }, act, input) =>
  page.evaluate(`import("steadfetch").then((steadfetch) => ${program(act, { url, origin2, closedUrl }, input)})`);

/** Plain data as JavaScript: JSON with NaN and undefined. */
function literal(value) {
  return inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
}

/**
 * It travels as text, so it refers to nothing but its arguments and globals.
 *
 * @param {object} steadfetch  the package's exports
 * @param {{ url: string, origin2: string, closedUrl: string }} where
 */
function toolkit(steadfetch, where) {
  const native = globalThis.fetch;
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** What the server has seen of a path so far. */
  const hits = async (path) => (await native(`${where.url}/-/hits?path=${path}`)).json();

  const until = async (condition, within = 20_000) => {
    const end = performance.now() + within;
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`waited ${within} ms in vain for ${condition}`);
      await sleep(10);
    }
  };

  /** What a promise rejects with. */
  const thrown = async (promise) => {
    try {
      await promise;
    } catch (error) {
      return error;
    }
    throw new Error("it was not rejected");
  };

  /** The call's state once it has that status. */
  const reached = (call, status, within = 10_000) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`it never was ${status}, but ${call.state.status}`)), within);
      const leave = call.subscribe((state) => {
        if (state.status !== status) return;
        clearTimeout(timer);
        queueMicrotask(() => leave());
        resolve(state);
      });
    });

  /** A copy of an error that can leave this place. */
  const told = (error) => ({
    name: error?.name,
    message: error?.message,
    isError: error instanceof Error,
    isTypeError: error instanceof TypeError,
    isRangeError: error instanceof RangeError,
  });

  /** Five failures in a row, as many as the breaker takes by default. */
  const trip = async (client, url, init) => {
    for (let i = 0; i < 5; i++) await client(url, { ...init, retry: false });
  };

  return {
    ...steadfetch,
    ...where,
    sleep,
    hits,
    until,
    thrown,
    reached,
    told,
    trip,
    /** Waits that a test can afford. */
    quick: { delay: 20, jitter: "none" },
    origin: new URL(where.url).origin,
  };
}
