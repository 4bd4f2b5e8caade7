// What survives a reload, as text that a page may keep where it likes. What comes back may be anything.
import type { Driver, SavedKey } from "./driver.ts";
import type { Settings } from "./options.ts";
import { LONGEST_KEY } from "./tabs.ts";

const VERSION = 2;
const MOST_KEYS = 1_000;

interface Saved {
  readonly steadfetch: number;
  /** When it was made. */
  readonly at: number;
  /** Times are on the wall clock; null is a circuit that is closed, and calls that are welcome. */
  readonly keys: readonly [string, number | null, number, number, number, number, number | null, number][];
}

export function save(client: Driver | undefined): string {
  // JSON writes null for what is infinite.
  const keys = client?.kept_() ?? [];
  return JSON.stringify({ steadfetch: VERSION, at: Date.now(), keys });
}

/** Throws what is wrong with it. */
function read(text: unknown): SavedKey[] {
  const { steadfetch, at, keys }: Saved = JSON.parse(text as string);
  const now = Date.now();
  if (steadfetch !== VERSION || !Number.isFinite(at)) throw new TypeError("it is of another version");
  return keys.slice(0, MOST_KEYS).map(([key, until, doublings, reason, milli, age, parked, status]) => {
    const known = typeof key === "string" && key.length <= LONGEST_KEY;
    const numbers = [until ?? 0, doublings, reason, milli, age, parked ?? 0, status];
    if (!known || !numbers.every(Number.isFinite)) throw new TypeError("it has an entry that is none");
    // An outage is never forgotten: one that is over in the meantime leaves its circuit half-open.
    const open = until === null ? -1 : Math.max(0, until - now);
    return [key, open, doublings, reason, milli, age + Math.max(0, now - at), (parked ?? 0) - now, status];
  });
}

/** Takes up what was saved; what is no such text is ignored, with one warning. */
export function restore(client: () => Driver, settings: () => Settings, text: unknown): void {
  let kept: SavedKey[];
  try {
    kept = read(text);
  } catch (error) {
    console.warn(`steadfetch: what is to be restored is no snapshot and is ignored (${error})`);
    return;
  }
  for (const entry of kept) client().restore_(settings(), ...entry);
}
