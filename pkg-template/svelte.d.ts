// steadfetch/svelte: reactive values for Svelte 5, to be read as `.current` in markup, $derived and $effect. A call is a
// store as well, so `$call` needs none of this. And <steadfetch-status> for its markup.
import type { HTMLAttributes } from "svelte/elements";
import type { StatusListeners, StatusProperties, SteadfetchStatus } from "./element.js";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { RequestHandle, Wanted } from "./request.js";

export type { RequestHandle, Wanted } from "./request.js";

/** The state of a call; idle where there is none. A tick runs anew only what reads `remaining`. */
export function callState(call: () => Call | null | undefined): {
  /** The state now. */
  readonly current: CallState;
};

/**
 * Starts a request when the component is mounted, and cancels it when it is unmounted. Another client, address, method, text body
 * or other headers make another request, which takes the place of the one before; what else changes in `init` is for the
 * next one. Idle on a server, and where nothing is wanted. Its members are to be read from it, not taken out of it.
 */
export function createRequest(
  client: () => SteadFetch,
  input: () => Wanted,
  init?: () => SteadInit | undefined,
): RequestHandle;

/** All circuits of a client. A tick runs anew only what reads `remaining`. */
export function circuitsState(client: () => SteadFetch): {
  /** The circuits now. */
  readonly current: readonly CircuitState[];
};

/** How many calls of a client are in which state. */
export function clientState(client: () => SteadFetch): {
  /** The counts now. */
  readonly current: ClientSnapshot;
};

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second. An outbox is a store as well: `$outbox` does without this.
 */
export function outboxState<Meta = unknown>(
  outbox: () => Outbox<Meta>,
): {
  /** The entries now. */
  readonly current: OutboxSnapshot<Meta>;
};

declare module "svelte/elements" {
  interface SvelteHTMLElements {
    "steadfetch-status": HTMLAttributes<SteadfetchStatus> & StatusProperties & StatusListeners<"on">;
  }
}
