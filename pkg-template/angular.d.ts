// steadfetch/angular: signals for Angular 19 and newer, with zones or without. Each function wants an injection context.
// They begin after the first render and end with the component; a server renders them idle.
import type { Signal } from "@angular/core";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { Wanted } from "./request.js";

export type { Wanted } from "./request.js";

/** The request of a component: its state, and what a person can do about it. */
export interface RequestHandle {
  /** The same object while only `remaining` moves. */
  readonly state: Signal<CallState>;
  /** The call under way; undefined before the first render. */
  readonly call: Signal<Call | undefined>;
  /** Goes on at once, where it waits: a person's click. False if that has no effect. */
  readonly retryNow: () => boolean;
  /** Another run, where the last one is over. */
  readonly retry: () => void;
  /** Gives up, where it is not over. */
  readonly cancel: (reason?: unknown) => void;
}

/** The state of a call, which is a signal or a function that reads signals; idle where there is none. */
export function injectCall(call: () => Call | null | undefined): Signal<CallState>;

/**
 * Starts a request, and cancels it when the component is destroyed. Another client, address, method, text body or other headers
 * make another request, which takes the place of the one before; what else changes in `init` is for the next one. Idle
 * where nothing is wanted.
 */
export function injectRequest(
  client: () => SteadFetch,
  input: () => Wanted,
  init?: () => SteadInit | undefined,
): RequestHandle;

/** All circuits of a client. A tick runs anew only what reads `remaining`. */
export function injectCircuits(client: () => SteadFetch): Signal<readonly CircuitState[]>;

/** How many calls of a client are in which state. */
export function injectClient(client: () => SteadFetch): Signal<ClientSnapshot>;

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second. The outbox is asked for at once.
 */
export function injectOutbox<Meta = unknown>(outbox: () => Outbox<Meta>): Signal<OutboxSnapshot<Meta>>;
