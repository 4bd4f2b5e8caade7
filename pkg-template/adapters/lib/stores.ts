// What the stores of the package have where there are none: on a server.
import type { CallState, ClientSnapshot } from "../../index.js";
import type { Store } from "./view.ts";

/** No circuits, and no failures. */
export const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);
export const IDLE: CallState = /* @__PURE__ */ Object.freeze({
  status: "idle",
  id: 0,
  run: 1,
  attempt: 0,
  maxAttempts: 0,
  failures: NONE,
  since: 0,
});
export const NO_CALLS: ClientSnapshot = {
  loading: 0,
  waiting: 0,
  offline: 0,
  queued: 0,
  online: true,
  nextRetryAt: null,
  openCircuits: NONE,
};

/** Throws where it is none, such as the promise of a plain call. */
export function mustBeStore<T>(value: Store<T> | undefined): Store<T> {
  if (value?.getSnapshot) return value;
  throw new TypeError("steadfetch: no store");
}
