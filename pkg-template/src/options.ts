// Reads what the developer wrote. A bad option throws a RangeError or TypeError that names its path, and after it
// nothing more is read.
import type { BreakerOptions, RetryOptions } from "../index.js";

/** Options as the core and the driver have them. Frozen by convention: an overlay makes another. */
export interface Settings {
  /** For the core, see src/web/policy.rs; NaN is the core's default. */
  readonly numbers_: readonly number[];
  /** Each once; without them, and without methods, the core's defaults. */
  readonly statuses_?: readonly number[] | undefined;
  readonly methods_?: readonly string[] | undefined;
  readonly shouldRetry_?: RetryOptions["shouldRetry"];
  readonly delay_?: Exclude<RetryOptions["delay"], number>;
  readonly beforeRetry_?: RetryOptions["beforeRetry"];
  readonly circuitKey_?: Exclude<BreakerOptions["key"], string>;
  readonly isFailure_?: BreakerOptions["isFailure"];
  /** "auto" is a random UUID. */
  readonly key_?: string | ((request: Request) => unknown) | undefined;
  /** The name of the header that carries the key. */
  readonly keyHeader_: string;
  /** The key is written as a string of RFC 8941 3.3.3, in quotes. */
  readonly keyQuoted_: boolean;
  /** `undefined` is the global one. */
  readonly fetch_?: typeof fetch | undefined;
  readonly debug_: boolean;
  readonly trace_: boolean;
}

type Draft = { -readonly [Name in keyof Settings]: Settings[Name] } & { numbers_: number[] };

/** What a value means. Throws if that is nothing. */
type Rule = (value: unknown, path: string, into: Draft) => unknown;

/**
 * Each option in the order of reading. What is no number of the core's stands with the name of its place in the settings,
 * or with that number, which then is not the next one; with none, nothing is kept of it.
 */
type Table = Record<string, Rule | readonly [Rule, (number | keyof Settings)?]>;

/** A value is out of range if at least its type is right. */
function refuse(value: unknown, path: string, rule: string, type?: string): never {
  throw new (typeof value === type ? RangeError : TypeError)(`steadfetch: ${path} must be ${rule}`);
}

const number = (value: unknown, path: string, rule: string, has: (value: number) => boolean): number =>
  typeof value === "number" && has(value) ? value : refuse(value, path, rule, "number");

/** The place of a word among those that can be. */
function word(value: unknown, path: string, words: unknown[]): number {
  const place = words.indexOf(value);
  return place < 0 ? refuse(value, path, `"${words.join('" or "')}"`, "string") : place;
}

// Infinity is whole too.
const isWhole = (value: number): boolean => !(value % 1);
const isStatus = (value: number): boolean => value >= 100 && value < 600 && isWhole(value);
const positive: Rule = (value, path) => number(value, path, "a number above 0", (value) => value > 0);
const notNegative: Rule = (value, path) => number(value, path, "a number of 0 or more", (value) => value >= 0);
const rate: Rule = (value, path) =>
  number(value, path, "a number above 0 and at most 1", (value) => value > 0 && value <= 1);
const count: Rule = (value, path) =>
  number(value, path, "a whole number of 0 or more", (value) => value >= 0 && isWhole(value));
const countFromOne: Rule = (value, path) =>
  number(value, path, "a whole number of 1 or more", (value) => value > 0 && isWhole(value));
const limit: Rule = (value, path, into) => (value === false ? 1 / 0 : positive(value, path, into));
const flag: Rule = (value, path) => (typeof value === "boolean" ? value : refuse(value, path, "true or false"));
const call: Rule = (value, path) => (typeof value === "function" ? value : refuse(value, path, "a function"));

const list = (value: unknown, path: string): unknown[] =>
  Array.isArray(value) ? value : refuse(value, path, "an array");

/** Each status once. */
function statuses(value: unknown, path: string): number[] {
  const all = new Set<number>();
  for (const code of list(value, path)) {
    if (code === "5xx") for (let status = 500; status < 600; status++) all.add(status);
    else all.add(number(code, path, 'an array of statuses from 100 to 599 or "5xx"', isStatus));
  }
  return [...all];
}

const retry: Table = {
  limit: count,
  methods: [
    (value, path) =>
      Array.from(list(value, path), (method) =>
        typeof method === "string" ? method : refuse(method, path, "an array of strings"),
      ),
    /* @__KEY__ */ "methods_",
  ],
  statusCodes: [statuses, /* @__KEY__ */ "statuses_"],
  delay: (value, path, into) => {
    into.delay_ = typeof value === "function" ? (value as Draft["delay_"]) : undefined;
    return into.delay_ ? into.numbers_[1] : notNegative(value, path, into);
  },
  factor: (value, path) => number(value, path, "a finite number above 0", (value) => value > 0 && value < 1 / 0),
  backoffLimit: notNegative,
  minDelay: notNegative,
  jitter: (value, path) => word(value, path, ["full", "equal", "decorrelated", "none"]),
  maxRetryAfter: notNegative,
  retryOnTimeout: flag,
  shouldRetry: [call, /* @__KEY__ */ "shouldRetry_"],
  beforeRetry: [call, /* @__KEY__ */ "beforeRetry_"],
};

const breaker: Table = {
  key: [
    (value, path) =>
      value === "origin"
        ? undefined
        : typeof value === "function"
          ? value
          : refuse(value, path, '"origin" or a function', "string"),
    /* @__KEY__ */ "circuitKey_",
  ],
  consecutiveFailures: count,
  failureRate: rate,
  minimumCalls: countFromOne,
  window: positive,
  slowCallDuration: limit,
  slowCallRate: rate,
  halfOpenAfter: positive,
  maxOpen: positive,
  halfOpenProbes: countFromOne,
  halfOpenSuccesses: countFromOne,
  probeLease: limit,
  isFailure: [call, /* @__KEY__ */ "isFailure_"],
  share: (value, path) => value === "tabs" || (value !== false && refuse(value, path, '"tabs" or false', "string")),
};

const budget: Table = {
  capacity: positive,
  ratio: notNegative,
  fleet: (value, path) => word(value, path, ["small", "large"]),
};

const header: Table = {
  name: [
    (value, path) => {
      const isString = typeof value === "string";
      // RFC 9110 5.6.2.
      return isString && /^[\w!#$%&'*+.^`|~-]+$/.test(value)
        ? value
        : refuse(value, path, isString ? "the name of a header" : "a string", "string");
    },
    /* @__KEY__ */ "keyHeader_",
  ],
  format: [(value, path) => !!word(value, path, ["raw", "sf-string"]), /* @__KEY__ */ "keyQuoted_"],
};

const all: Table = {
  retry: [
    (value, path, into) => {
      if (typeof value === "number") return count(value, path, into);
      if (value === false) return 0;
      read(value, path, into, retry, "a number, an object or false", 0);
      return into.numbers_[0];
    },
    0,
  ],
  timeout: limit,
  totalTimeout: limit,
  covers: (value, path) => word(value, path, ["headers", "body"]),
  breaker: [(value, path, into) => group(value, path, into, breaker, "an object", 16, 29), 16],
  budget: [(value, path, into) => group(value, path, into, budget, "an object or false", 29, 33), 29],
  idempotencyKey: [
    (value, path) => {
      if (value === "") refuse(value, path, "a string that is not empty", "string");
      if (typeof value === "string" || typeof value === "function") return value;
      return value === false ? undefined : refuse(value, path, 'false, "auto", a string or a function');
    },
    /* @__KEY__ */ "key_",
  ],
  idempotencyHeader: [(value, path, into) => read(value, path, into, header, "an object", 0)],
  onCircuitOpen: (value, path) => word(value, path, ["reject", "wait"]),
  onOffline: (value, path) => word(value, path, ["wait", "reject", "ignore"]),
  onExhausted: (value, path) => word(value, path, ["settle", "hold"]),
  throwHttpErrors: flag,
  tickInterval: limit,
  debug: [flag, /* @__KEY__ */ "debug_"],
  trace: [flag, /* @__KEY__ */ "trace_"],
  // For where there is no core, so here it is only checked.
  degrade: [flag],
  fetch: [call, /* @__KEY__ */ "fetch_"],
};

/**
 * Reads the options of one object, which `rule` describes, into `into`, or into a copy where that is `base`; `next` is the
 * place of its first number.
 */
function read(
  from: unknown,
  path: string,
  into: Draft,
  table: Table,
  rule: string,
  next: number,
  base?: Settings,
): Settings {
  if (typeof from !== "object" || !from) refuse(from, path || "options", rule);
  for (const name in table) {
    const entry = table[name] as Table[string];
    const bare = typeof entry === "function";
    const place = bare ? next++ : entry[1];
    const value = (from as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (into === base) into = { ...into, numbers_: into.numbers_.slice() };
    const meaning = (bare ? entry : entry[0])(value, path ? `${path}.${name}` : name, into);
    if (typeof place === "number") into.numbers_[place] = Number(meaning);
    else if (place) (into as Record<string, unknown>)[place] = meaning;
  }
  return into;
}

/** Whether a part of the core is on. One that was off begins from the defaults again. */
function group(
  value: unknown,
  path: string,
  into: Draft,
  table: Table,
  rule: string,
  from: number,
  to: number,
): boolean {
  if (value === false) into.numbers_.fill(NaN, from, to);
  else read(value, path, into, table, rule, from + 1);
  return value !== false;
}

export const defaults: Settings = {
  numbers_: Array(33).fill(NaN),
  keyHeader_: "Idempotency-Key",
  keyQuoted_: false,
  debug_: false,
  trace_: false,
};

/** `options` laid over `base`, which is the same if none is given. */
export const overlay = (base: Settings, options: unknown): Settings =>
  options === undefined ? base : read(options, "", base as Draft, all, "an object", 8, base);

/** Whether circuits are shared by the tabs of the origin. */
export const isShared = (settings: Settings): boolean => settings.numbers_[28] === 1;
