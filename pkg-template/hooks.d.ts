// What steadfetch/react and steadfetch/preact have in common: hooks, apart from the library that runs them.
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { RequestHandle, Wanted } from "./request.js";

export type { RequestHandle, Wanted } from "./request.js";

/** The state of a call; idle where there is none. A tick renders anew only what reads `remaining`. */
export function useCall(call: Call | null | undefined): CallState;

/**
 * Starts a request when the component is mounted, and cancels it when it is unmounted. Another client, address, method,
 * text body or other headers make another request, which takes the place of the one before; what else changes in `init`
 * is for the next one. Idle on a server, and where nothing is wanted.
 */
export function useRequest(client: SteadFetch, input: Wanted, init?: SteadInit): RequestHandle;

/** All circuits of a client. A tick renders anew only what reads `remaining`. Empty on a server. */
export function useCircuits(client: SteadFetch): readonly CircuitState[];

/** How many calls of a client are in which state. Of none on a server. */
export function useClient(client: SteadFetch): ClientSnapshot;

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second. Without entries on a server.
 */
export function useOutbox<Meta = unknown>(outbox: Outbox<Meta>): OutboxSnapshot<Meta>;
