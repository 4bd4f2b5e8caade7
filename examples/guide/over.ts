import type { CallState } from "steadfetch";

/** Whether a call is over, until someone retries it. */
export function isOver(state: CallState): boolean {
  switch (state.status) {
    case "success":
    case "failed":
    case "cancelled":
      return true;
    case "exhausted":
      return !state.held; // with `onExhausted: "hold"` it still has its promise to keep
    case "circuit-open":
      return state.settled; // with `onCircuitOpen: "wait"` it has its turn to come
    default:
      return false;
  }
}
