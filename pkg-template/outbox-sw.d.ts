// steadfetch/outbox/sw: for a service worker. The browser wakes it when the network is back (Background Sync), and it
// delivers what tabs left behind. Where a browser has no Background Sync, the next page that is opened does.
import type { SteadFetch } from "./index.js";
import type { OutboxOptions } from "./outbox.js";

/**
 * Call it while the worker starts, so that no event is missed; the options are those of the pages. Returns what takes the
 * listener off.
 */
export function drainOnSync(client: SteadFetch, options?: OutboxOptions): () => void;
