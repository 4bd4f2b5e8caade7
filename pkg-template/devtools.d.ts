// steadfetch/devtools: a panel that shows what a client does. For development: load it when it is wanted,
// `const { inspect } = await import("steadfetch/devtools")`.
import type { SteadFetch } from "./index.js";

/** How the panel is mounted. */
export interface InspectOptions {
  /** Where the panel goes; default: fixed at the lower edge of the page. */
  readonly target?: Element | undefined;
  /** Whether it is unfolded; default true. */
  readonly open?: boolean | undefined;
}

/**
 * Mounts a panel with the calls of this client and its family on a time line, its circuits with their windows, and its
 * budgets; from it one can force offline, hold a circuit open, retry and cancel. It knows of a call from its next change
 * on. Returns what takes it away, and with it whatever it holds.
 */
export function inspect(client: SteadFetch, options?: InspectOptions): () => void;
