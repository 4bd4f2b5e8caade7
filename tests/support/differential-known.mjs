// Disagreements with native fetch that are defects of the package, until they are mended. The test fails where an
// example agrees: then its entry has to go.

const only = ({ what }, pattern) => Object.keys(what).every((key) => pattern.test(key));
const throws = (init) => Object.values(init ?? {}).some((value) => /throws/.test(value?.$));

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
    name: "input is a Proxy of a Request",
    since: "2026-11-30",
    why: "native takes it for a string, [object Request]; the client takes it for a Request and trips over its signal",
    holds: (it) => it.input === "proxied-request",
    example: { url: { form: "absolute", rest: "" }, input: "proxied-request" },
  },
  {
    name: "which of two mistakes is told",
    since: "2026-11-30",
    why: "init is copied and its signal looked at first, so of two mistakes another one is heard than native's first",
    holds: (it, difference) => (throws(it.init) || it.input === "throws") && only(difference, /^error\./),
    example: {
      url: { form: "absolute", rest: "" },
      input: "string",
      init: { method: { $: "throws" }, signal: { $: "controller" } },
    },
  },
  {
    name: "a getter that native never runs",
    since: "2026-11-30",
    why: "init is copied with all its members, also those that the browser does not read: window in Chromium, duplex in Firefox",
    holds: (it, difference) =>
      Object.values(it.init ?? {}).some((value) => value?.$ === "getter-throws") &&
      difference.what.outcome?.[1] === 'rejected with "Error"',
    example: { url: { form: "absolute", rest: "" }, input: "string", init: { window: { $: "getter-throws" } } },
  },
  {
    name: "keepalive in init",
    since: "2026-11-30",
    why: "Firefox heeds it in the init of fetch alone, not in a Request: other order of headers, no limit of 64 KiB",
    holds: (it, difference) =>
      !!it.init?.keepalive &&
      (only(difference, /\.order$|\.preflights\./) ||
        (it.init.body?.size >= 70_000 && difference.what.outcome?.[0] === 'rejected with "TypeError"')),
    example: {
      url: { form: "absolute", rest: "" },
      input: "string",
      init: { method: "POST", body: { $: "body", kind: "string", size: 0 }, keepalive: true },
    },
    engines: ["Firefox"],
  },
];
