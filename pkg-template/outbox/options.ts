// Reads the options of an outbox; a bad one throws an error that names it.
import type { OutboxOptions, OutboxStorage } from "../outbox.js";
import { mustBeFunction } from "../src/report.ts";
import { indexedDBStorage } from "./indexeddb.ts";

const DAY = 86_400_000;

export interface Settings {
  readonly name_: string;
  readonly maxAge_: number;
  readonly maxEntries_: number;
  readonly maxBytes_: number;
  readonly stop_: boolean;
  readonly queueKey_: ((request: Request) => string) | undefined;
  readonly prepare_: OutboxOptions["prepare"];
  readonly credentials_: boolean;
  readonly storage_: OutboxStorage;
  /** Goes on in memory where the browser refuses storage. */
  readonly volatile_: boolean;
}

const KNOWN = [
  "name",
  "maxAge",
  "maxEntries",
  "maxBytes",
  "queueKey",
  "onRejected",
  "prepare",
  "storeCredentials",
  "storage",
  "onStorageDenied",
];

function above(value: unknown, name: string, fallback: number, least = Number.MIN_VALUE): number {
  if (value === undefined) return fallback;
  const wanted = `steadfetch: ${name} must be a number ${least < 1 ? "above 0" : "of at least 1"}`;
  if (typeof value !== "number") throw new TypeError(wanted);
  if (!(value >= least)) throw new RangeError(wanted);
  return value;
}

/** Whether it is the second of two words; the first one is the default. */
function second(value: unknown, name: string, words: readonly [string, string]): boolean {
  if (value === undefined) return false;
  if (typeof value !== "string") throw new TypeError(`steadfetch: ${name} must be "${words.join('" or "')}"`);
  if (!words.includes(value)) throw new RangeError(`steadfetch: ${name} must be "${words.join('" or "')}"`);
  return value === words[1];
}

const callable = <T>(value: T, name: string): T => (value === undefined ? value : mustBeFunction(value, name));

const METHODS = [
  "add",
  "list",
  "read",
  "head",
  "patch",
  "remove",
  "quarantine",
  "quarantined",
  "note",
  "close",
] as const;

export function read(options: OutboxOptions = {}): Settings {
  if (typeof options !== "object" || options === null) throw new TypeError("steadfetch: options must be an object");
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name)) throw new TypeError(`steadfetch: an outbox has no option ${name}`);
  }
  const { name = "default", storeCredentials = false, storage } = options;
  if (typeof name !== "string" || !name) throw new TypeError("steadfetch: name must be a string that is not empty");
  if (typeof storeCredentials !== "boolean") throw new TypeError("steadfetch: storeCredentials must be a boolean");
  for (const method of storage ? METHODS : []) mustBeFunction(storage?.[method], `storage.${method}`);
  return {
    name_: name,
    maxAge_: above(options.maxAge, "maxAge", 7 * DAY),
    maxEntries_: above(options.maxEntries, "maxEntries", 10_000, 1),
    maxBytes_: above(options.maxBytes, "maxBytes", 50 * 2 ** 20, 1),
    stop_: second(options.onRejected, "onRejected", ["continue", "stop"]),
    queueKey_: callable(options.queueKey, "queueKey"),
    prepare_: callable(options.prepare, "prepare"),
    credentials_: storeCredentials,
    storage_: storage ?? indexedDBStorage(name),
    volatile_: second(options.onStorageDenied, "onStorageDenied", ["reject", "memory"]),
  };
}
