// What the differential test may call fetch with, as plain data: a case can be printed, sent to a page and shrunk.
// tests/support/differential-page.mjs makes the values from it. A member that is no plain JSON is `{ $: kind, ... }`.

import fc from "fast-check";

/** Nothing in most cases; whatever there is shrinks to nothing. */
const maybe = (arbitrary, often = 1, seldom = 4) =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: seldom, arbitrary: fc.constant(undefined) },
    { weight: often, arbitrary },
  );

const mostly = (usual, odd, times = 6) =>
  fc.oneof({ withCrossShrink: true }, { weight: times, arbitrary: usual }, { weight: 1, arbitrary: odd });

/** Without the members that are not there. */
const compact = (record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
const members = (record) => fc.record(record).map(compact);

const one = (...values) => fc.constantFrom(...values);
/** Values that hardly any member takes. */
const odd = one(
  null,
  "",
  "nonsense",
  0,
  true,
  { $: "undefined" },
  { $: "symbol" },
  { $: "object" },
  { $: "throws" },
  { $: "getter-throws" },
);
/** Other ways to say a string. */
const said = (texts) => mostly(texts, fc.record({ $: one("String", "toString"), text: texts }), 12);
const mixedCase = (word) =>
  fc
    .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
    .map((up) => [...word].map((letter, i) => (up[i] ? letter.toUpperCase() : letter.toLowerCase())).join(""));

// ---------------------------------------------------------------- the request

const method = mostly(
  mostly(
    one("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "get", "post", "patch", "Patch", "QUERY", "query"),
    one("GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS").chain(mixedCase),
    3,
  ),
  fc.oneof(
    odd,
    one("CHICKEN", "x-y", "G ET", "GÉT", "GET\n", "\0", "PUT,"),
    one("CONNECT", "TRACE", "TRACK").chain(mixedCase),
    said(one("GET", "POST")),
  ),
);

const headerName = mostly(
  one(
    "X-A",
    "x-a",
    "X-B",
    "X-C",
    "Accept",
    "Accept-Language",
    "Content-Type",
    "content-type",
    "Content-Language",
    "Range",
    "Authorization",
    "Idempotency-Key",
    "If-None-Match",
    "If-Modified-Since",
    "Cache-Control",
    "Pragma",
    "Retry-After",
    "User-Agent",
    "Upgrade-Insecure-Requests",
    "Save-Data",
  ),
  one(
    "Host",
    "Cookie",
    "Origin",
    "Referer",
    "Content-Length",
    "Connection",
    "Date",
    "DNT",
    "Sec-X",
    "Proxy-X",
    "X-HTTP-Method-Override",
    "Set-Cookie",
    "Transfer-Encoding",
    "",
    "a b",
    "é",
    "a:",
    "Ā",
  ),
  8,
);
const headerValue = mostly(
  one(
    "",
    "1",
    "a, b",
    " pad ",
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/json",
    "multipart/form-data; boundary=x",
    "bytes=0-3",
    "en",
    "é",
    '"tag"',
    "x".repeat(150),
  ),
  one("Ā", "a\nb", "a\0b", "\ta\r\n", "TRACE", "a\r\nX-Z: 1"),
  10,
);
const headers = mostly(
  fc.record({
    $: fc.constant("headers"),
    kind: one("object", "array", "Headers", "iterable", "map", "null-prototype", "foreign"),
    entries: fc.array(fc.tuple(headerName, headerValue), { maxLength: 4 }),
  }),
  fc.oneof(
    odd,
    fc.record({
      $: fc.constant("headers"),
      kind: one("triples", "singles", "numbers", "throwing"),
      entries: fc.constant([["X-A", "1"]]),
    }),
  ),
  12,
);

const body = mostly(
  fc.record({
    $: fc.constant("body"),
    kind: one(
      "string",
      "string",
      "URLSearchParams",
      "FormData",
      "Blob",
      "ArrayBuffer",
      "Uint8Array",
      "Float32Array",
      "DataView",
      "File",
      "number",
      "String",
      "object",
      "array",
      "stream",
      "stream",
      "byte-stream",
      "foreign-FormData",
      "foreign-Blob",
      "foreign-ArrayBuffer",
      "foreign-URLSearchParams",
    ),
    size: one(0, 1, 17, 1_000, 70_000),
  }),
  fc.oneof(
    odd,
    fc.record({
      $: fc.constant("body"),
      kind: one(
        "stream-locked",
        "stream-used",
        "stream-cancelled",
        "stream-errored",
        "stream-bad-chunk",
        "detached",
        "surrogates",
        "async-iterable",
        "function",
        "request",
        "foreign-stream",
        "resizable",
      ),
      size: one(0, 5),
    }),
  ),
  4,
);

const reason = one("none", "error", "string", "null", "undefined", "zero", "AbortError", "TimeoutError");
const signal = mostly(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        $: fc.constant("signal"),
        when: one("never", "before", "now", "microtask", "headers"),
        reason,
        make: one("plain", "plain", "any", "foreign"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        $: fc.constant("signal"),
        when: one("late", "body"),
        reason,
        make: one("plain", "any", "foreign"),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        $: fc.constant("signal"),
        when: one("late", "before"),
        reason: fc.constant("none"),
        make: fc.constant("timeout"),
      }),
    },
  ),
  fc.oneof(one(null, { $: "undefined" }), odd, one({ $: "controller" }, { $: "signal-prototype" })),
);

const init = (signalOften) =>
  members({
    method: maybe(method, 2, 3),
    body: maybe(body),
    headers: maybe(headers, 1, 3),
    mode: maybe(
      mostly(
        one("cors", "no-cors", "same-origin"),
        fc.oneof(odd, one("navigate", "websocket", "CORS"), said(one("cors"))),
      ),
      1,
      7,
    ),
    credentials: maybe(mostly(one("omit", "same-origin", "include"), fc.oneof(odd, one("Omit"))), 1, 6),
    cache: maybe(
      mostly(
        one("default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"),
        fc.oneof(odd, one("NO-STORE")),
      ),
      1,
      6,
    ),
    redirect: maybe(mostly(one("follow", "error", "manual"), odd), 1, 5),
    referrer: maybe(
      mostly(
        one("", "about:client", "/elsewhere?q=1", "no-referrer", { $: "url", at: "cross" }, { $: "url", at: "same" }),
        fc.oneof(odd, one("http://[", "about:blank", "data:,x", "http://u:p@127.0.0.1/")),
      ),
      1,
      7,
    ),
    referrerPolicy: maybe(
      mostly(
        one(
          "",
          "no-referrer",
          "no-referrer-when-downgrade",
          "origin",
          "origin-when-cross-origin",
          "same-origin",
          "strict-origin",
          "strict-origin-when-cross-origin",
          "unsafe-url",
        ),
        odd,
      ),
      1,
      7,
    ),
    integrity: maybe(
      mostly(one("", { $: "integrity", right: true }, { $: "integrity", right: false }, "md5-AAAA", "garbage"), odd),
      1,
      9,
    ),
    keepalive: maybe(mostly(one(true, false), odd), 1, 9),
    priority: maybe(mostly(one("high", "low", "auto"), odd), 1, 9),
    duplex: maybe(mostly(one("half"), fc.oneof(odd, one("full"))), 1, 5),
    window: maybe(mostly(one(null, { $: "undefined" }), odd), 1, 30),
    signal: maybe(signal, signalOften, 8),
  });

const url = fc.record({
  form: mostly(
    one("absolute", "absolute", "absolute", "absolute", "path", "scheme-relative", "cross", "cross"),
    one(
      "empty",
      "query-only",
      "fragment-only",
      "relative",
      "backslashes",
      "upper-case",
      "padded",
      "tabs",
      "no-slashes",
      "credentials",
      "user-only",
      "cross-credentials",
      "closed",
      "blocked-port",
      "bad-port",
      "bad-host",
      "data",
      "data-base64",
      "data-bad",
      "blob",
      "blob-gone",
      "about",
      "javascript",
      "file",
      "ftp",
      "unknown-scheme",
    ),
    6,
  ),
  rest: mostly(
    fc.constant(""),
    one(
      "a/../b",
      "%2e/x",
      "?q=1&q=2",
      "?q=ü",
      "ü",
      "a b",
      "#part",
      "?#",
      "x?y#z",
      "%",
      "%zz",
      "\u{1f600}",
      "a\\b",
      ";p",
    ),
    2,
  ),
});

// ---------------------------------------------------------------- the answer

const HEALTHY = [
  200, 201, 202, 203, 204, 205, 206, 226, 300, 304, 400, 401, 403, 404, 405, 406, 409, 410, 412, 414, 415, 416, 418,
  422, 451,
];
const FAILING = [429, 500, 501, 502, 503, 504, 505, 599];

const answer = members({
  status: maybe(mostly(one(...HEALTHY), one(...FAILING), 3)),
  statusText: maybe(one("", "Fine", "What Ever-It_Is"), 1, 9),
  headers: maybe(
    fc.array(
      one(
        ["X-Z", "1"],
        ["x-a", "2"],
        ["X-A", "3"],
        ["Vary", "X-A"],
        ["Content-Type", "application/json"],
        ["Content-Type", "nonsense"],
        ["X-Empty", ""],
        ["X-Latin", "\u00e9"],
        ["Retry-After", "1"],
        ["Link", "<x>; rel=y"],
        ["Date", "Thu, 01 Jan 1970 00:00:00 GMT"],
        ["Content-Disposition", "attachment"],
        ["Clear-Nothing", "x, y"],
      ),
      { maxLength: 4 },
    ),
    1,
    2,
  ),
  size: maybe(one(0, 1, 1_000, 100_000), 2, 3),
  coded: maybe(one("gzip", "gzip-broken", "identity"), 1, 12),
  chunked: maybe(fc.constant(true)),
  cors: maybe(one("none", "origin", "credentials", "exposed", "exposed-all"), 1, 3),
  cache: maybe(one("max-age=60", "no-store", "etag")),
  fault: maybe(one("reset", "end", "cut-body"), 1, 40),
  redirect: maybe(
    fc.record({
      status: one(301, 302, 303, 307, 308),
      to: mostly(
        one("hop", "relative", "cross", "fragment", "twice"),
        one("credentials", "loop", "closed", "data", "bad", "none", "empty", "back"),
        3,
      ),
    }),
    1,
    6,
  ),
});

// ---------------------------------------------------------------- the call

const REQUESTS = ["request", "subclass", "foreign", "copy"];
/** Addresses that lead to the server's answer. */
const REACHING = ["absolute", "path", "scheme-relative", "cross", "upper-case", "padded", "tabs", "backslashes"];
/** What init may be instead of an object. */
const PRIMITIVES = ["null", "undefined", "number", "zero", "string", "boolean", "symbol"];

const input = mostly(
  one("string", "string", "URL", ...REQUESTS),
  one(
    "String",
    "toString",
    "foreign-URL",
    "location",
    "null",
    "undefined",
    "number",
    "symbol",
    "object",
    "throws",
    "nothing",
    "proxied-request",
  ),
  10,
);

export const anyCase = members({
  url,
  input,
  /** What a Request given as input was made with; what cannot be made is no case. */
  request: maybe(init(1), 3, 1),
  /** What was done to it before. */
  spent: maybe(one("used", "locked", "cloned", "body-cancelled"), 1, 8),
  init: maybe(init(2), 3, 1),
  /** How init holds its members; instead of them, for a primitive. */
  shape: maybe(
    mostly(
      one("frozen", "null-prototype", "class", "inherited", "function", "foreign", "extra"),
      one(...PRIMITIVES, "array"),
      3,
    ),
    1,
    5,
  ),
  answer: maybe(answer, 3, 1),
  /** The URL was asked for before, by a plain GET. */
  primed: maybe(fc.constant(true), 1, 9),
  /** What was given is changed right after the call. */
  mutated: maybe(fc.constant(true), 1, 9),
  /** What is done with the answer. */
  read: maybe(one("text", "clone", "stream", "cancel", "json", "blob"), 1, 2),
  /** How the client is called. */
  via: maybe(one("init", "start", "extend"), 1, 2),
}).map(settled);

/** Lets the answer wait where the signal needs time, and drops what the case does not use. */
function settled(drawn) {
  const it = { ...drawn };
  const own = PRIMITIVES.includes(it.shape) ? undefined : it.init?.signal;
  const given = REQUESTS.includes(it.input) ? it.request?.signal : undefined;
  const signal = own === undefined || own?.$ === "undefined" ? given : own;
  if (signal?.when === "late") waiting(it, "headers");
  else if (signal?.when === "headers" || signal?.when === "body") waiting(it, "body");
  if (it.answer?.waits) delete it.primed;
  if (!REQUESTS.includes(it.input) && it.input !== "proxied-request") {
    delete it.request;
    delete it.spent;
  }
  // Which comes first is a matter of luck.
  const broken = it.answer?.fault === "cut-body" || it.answer?.coded === "gzip-broken";
  if (broken && it.read === "cancel") delete it.read;
  return it;
}

/** Makes it certain that the abort comes while the server lets wait. */
function waiting(it, waits) {
  const { redirect, fault, coded, size, ...answer } = it.answer ?? {};
  it.answer = { ...answer, waits };
  const followed = !it.init?.redirect && !it.request?.redirect;
  if (followed && ["hop", "relative", "cross", "fragment", "twice"].includes(redirect?.to))
    it.answer.redirect = redirect;
  if (size >= 1_000) it.answer.size = size;
  if (!REACHING.includes(it.url.form)) it.url = { ...it.url, form: "absolute" };
  if (!REQUESTS.includes(it.input) && it.input !== "URL") it.input = "string";
}

export const isFailing = (status) => FAILING.includes(status);
