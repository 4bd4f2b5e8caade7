// Disagreements with native fetch that are defects of the package, until they are mended. The test fails where an
// example agrees: then its entry has to go.

import { only } from "./differential.mjs";

/**
 * @type {{
 *   name: string,
 *   since: string,
 *   why: string,
 *   holds: (it: object, difference: object) => boolean,
 *   example: object,
 *   engines?: string[],  those that it is about; default: all
 * }[]}
 */
export const KNOWN = [
  {
    name: "keepalive in init",
    since: "2026-11-30",
    why: "Firefox heeds it in the init of fetch alone, not in a Request: other order of headers, no limit of 64 KiB, and a failure comes at once, before an abort of the same turn",
    holds: (it, difference) =>
      !!it.init?.keepalive &&
      (only(difference, /\.order$|\.preflights\./) ||
        (only(difference, /^error\./) &&
          [it.init, it.request].some((init) => ["now", "microtask"].includes(init?.signal?.when)) &&
          difference.what["error.class"]?.join() === '"DOMException","TypeError"') ||
        (it.init.body?.size >= 70_000 && difference.what.outcome?.[0] === 'rejected with "TypeError"')),
    example: {
      url: { form: "absolute", rest: "" },
      input: "string",
      init: { method: "POST", body: { $: "body", kind: "string", size: 0 }, keepalive: true },
    },
    engines: ["Firefox"],
  },
];
