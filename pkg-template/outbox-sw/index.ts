// Delivers, in a service worker, what tabs left behind.
import type { SteadFetch } from "../index.js";
import { syncTag } from "../outbox/sync.ts";
import { createOutbox, type OutboxOptions, type OutboxSnapshot } from "../outbox.js";

/** What a service worker is told when the network is back. */
interface SyncEvent extends ExtendableEventLike {
  readonly tag: string;
  /** The browser will not try again by itself. */
  readonly lastChance: boolean;
}
interface ExtendableEventLike extends Event {
  waitUntil(work: Promise<unknown>): void;
}

/** So long waits are worth staying awake for, in ms, and so long in all. */
const SHORT = 20_000;
const LONGEST = 120_000;

export function drainOnSync(client: SteadFetch, options?: OutboxOptions): () => void {
  if (typeof globalThis.addEventListener !== "function") {
    throw new TypeError("steadfetch: drainOnSync() is for a service worker");
  }
  const tag = syncTag(options?.name ?? "default");
  const listener = (event: Event): void => {
    const { tag: given, lastChance } = event as SyncEvent;
    if (given === tag) (event as SyncEvent).waitUntil(drain(client, options, lastChance));
  };
  globalThis.addEventListener("sync", listener);
  return () => globalThis.removeEventListener("sync", listener);
}

/** Rejects where some are left, so that the browser tries again later. */
async function drain(client: SteadFetch, options: OutboxOptions | undefined, lastChance: boolean): Promise<void> {
  const outbox = createOutbox(client, options);
  const end = Date.now() + LONGEST;
  try {
    for (;;) {
      const pending = await outbox.flush();
      const snapshot = outbox.getSnapshot();
      if (!snapshot.durable) throw new Error("steadfetch: the store cannot be opened");
      if (!pending || snapshot.paused) return;
      // A tab that sees to what is left may be closed before it has.
      const wait = snapshot.sender ? soonest(snapshot) : Number.POSITIVE_INFINITY;
      if (wait > SHORT || Date.now() + wait > end) {
        if (lastChance) return;
        throw new Error(`steadfetch: ${pending} entries are left`);
      }
      await new Promise((resolve) => setTimeout(resolve, wait + 10));
    }
  } finally {
    outbox.dispose();
  }
}

/** Until when something goes on, in ms from now. */
function soonest({ entries }: OutboxSnapshot): number {
  const ends = entries.map(({ state }) => (state.status === "waiting" && state.retryAt) || Number.POSITIVE_INFINITY);
  return Math.max(0, Math.min(...ends) - Date.now());
}
