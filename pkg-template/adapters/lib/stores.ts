// The stores of the package, and what there is where there are none: on a server.
import type { CallState, CircuitState, ClientSnapshot } from "../../index.js";
import type { Store } from "./view.ts";

const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);
export const IDLE: CallState = /* @__PURE__ */ Object.freeze({
  status: "idle",
  id: 0,
  run: 1,
  attempt: 0,
  maxAttempts: 0,
  failures: NONE,
  since: 0,
});
export const NO_CIRCUITS: readonly CircuitState[] = NONE;
export const NO_CALLS: ClientSnapshot = /* @__PURE__ */ Object.freeze({
  loading: 0,
  waiting: 0,
  offline: 0,
  queued: 0,
  online: true,
  nextRetryAt: null,
  openCircuits: NO_CIRCUITS,
});

const NO_CALL: Store<CallState> = {
  subscribe(listener) {
    listener(IDLE);
    return () => {};
  },
  getSnapshot: () => IDLE,
};

/** Throws where it is none, such as the promise of a plain call. */
export function mustBeStore<T>(value: Store<T> | undefined): Store<T> {
  if (value?.getSnapshot) return value;
  throw new TypeError("steadfetch: not a call, nor a client");
}

export const callStore = (call: Store<CallState> | null | undefined): Store<CallState> => mustBeStore(call ?? NO_CALL);
