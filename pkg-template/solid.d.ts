// steadfetch/solid: primitives for Solid 1. They begin after the first render and end with their owner; a server renders
// them idle. And <steadfetch-status> for its JSX.
import type { Accessor, JSX } from "solid-js";
import type { StatusListeners, StatusProperties, SteadfetchStatus } from "./element.js";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { Wanted } from "./request.js";

export type { Wanted } from "./request.js";

/** The request of a component: its state, and what a person can do about it. */
export interface RequestHandle {
  /** The same object while only `remaining` moves. */
  readonly state: Accessor<CallState>;
  /** The call under way; undefined before the first effects run. */
  readonly call: Accessor<Call | undefined>;
  /** Goes on at once, where it waits: a person's click. False if that has no effect. */
  readonly retryNow: () => boolean;
  /** Another run, where the last one is over. */
  readonly retry: () => void;
  /** Gives up, where it is not over. */
  readonly cancel: (reason?: unknown) => void;
}

/** The state of a call; idle where there is none. A tick runs anew only what reads `remaining`. */
export function fromCall(call: Accessor<Call | null | undefined>): Accessor<CallState>;

/**
 * Starts a request, and cancels it when the owner is disposed of. Another client, address, method, text body or other headers make
 * another request, which takes the place of the one before; what else changes in `init` is for the next one. Idle where
 * nothing is wanted.
 */
export function createRequest(
  client: Accessor<SteadFetch>,
  input: Accessor<Wanted>,
  init?: Accessor<SteadInit | undefined>,
): RequestHandle;

/** All circuits of a client. A tick runs anew only what reads `remaining`. */
export function fromCircuits(client: Accessor<SteadFetch>): Accessor<readonly CircuitState[]>;

/** How many calls of a client are in which state. */
export function fromClient(client: Accessor<SteadFetch>): Accessor<ClientSnapshot>;

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second.
 */
export function fromOutbox<Meta = unknown>(outbox: Accessor<Outbox<Meta>>): Accessor<OutboxSnapshot<Meta>>;

declare module "solid-js" {
  namespace JSX {
    interface IntrinsicElements {
      "steadfetch-status": JSX.HTMLAttributes<SteadfetchStatus> & StatusProperties & StatusListeners<"on:">;
    }
  }
}
