// steadfetch/vue: composables for Vue 3. In a component they begin when it is mounted, and end with it or with their
// effect scope; a server renders them idle.
import type { HTMLAttributes, MaybeRef, MaybeRefOrGetter, ShallowRef } from "vue";
import type { StatusEvent, StatusProperties } from "./element.js";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { Wanted } from "./request.js";

export type { Wanted } from "./request.js";

/** The request of a component: its state, and what a person can do about it. */
export interface RequestHandle {
  /** The same object while only `remaining` moves. */
  readonly state: Readonly<ShallowRef<CallState>>;
  /** The call under way; undefined before the component is mounted. */
  readonly call: Readonly<ShallowRef<Call | undefined>>;
  /** Goes on at once, where it waits: a person's click. False if that has no effect. */
  readonly retryNow: () => boolean;
  /** Another run, where the last one is over. */
  readonly retry: () => void;
  /** Gives up, where it is not over. */
  readonly cancel: (reason?: unknown) => void;
}

/** The state of a call; idle where there is none. A tick runs anew only what reads `remaining`. */
export function useCall(call: MaybeRefOrGetter<Call | null | undefined>): Readonly<ShallowRef<CallState>>;

/**
 * Starts a request when the component is mounted, and cancels it when it is unmounted. Another client, address, method,
 * text body or other headers make another request, which takes the place of the one before; what else changes in `init`
 * is for the next one. Idle where nothing is wanted. The client is no getter, for it is a function itself.
 */
export function useRequest(
  client: MaybeRef<SteadFetch>,
  input: MaybeRefOrGetter<Wanted>,
  init?: MaybeRefOrGetter<SteadInit | undefined>,
): RequestHandle;

/** All circuits of a client. A tick runs anew only what reads `remaining`. */
export function useCircuits(client: MaybeRef<SteadFetch>): Readonly<ShallowRef<readonly CircuitState[]>>;

/** How many calls of a client are in which state. */
export function useClient(client: MaybeRef<SteadFetch>): Readonly<ShallowRef<ClientSnapshot>>;

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second.
 */
export function useOutbox<Meta = unknown>(
  outbox: MaybeRefOrGetter<Outbox<Meta>>,
): Readonly<ShallowRef<OutboxSnapshot<Meta>>>;

declare module "vue" {
  interface GlobalComponents {
    "steadfetch-status": new () => {
      $props: HTMLAttributes &
        StatusProperties & {
          onSteadfetchTryNow?: (event: StatusEvent) => void;
          onSteadfetchTryAgain?: (event: StatusEvent) => void;
          onSteadfetchCancel?: (event: StatusEvent) => void;
        };
    };
  }
}
