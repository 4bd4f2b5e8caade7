import type { CallState } from "steadfetch";

/** Which buttons are of use in a state. */
export function buttons(state: CallState) {
  const none = { tryNow: false, tryAgain: false, cancel: false };
  switch (state.status) {
    case "idle":
    case "loading":
      return { ...none, cancel: true };
    case "waiting":
    case "offline":
      return { ...none, tryNow: true, cancel: true };
    case "circuit-open":
      if (state.settled) return { ...none, tryAgain: true };
      return { ...none, tryNow: !state.probeInFlight && state.retryAt !== null, cancel: true };
    case "exhausted":
      return { ...none, tryAgain: true, cancel: state.held };
    case "failed":
    case "cancelled":
      return { ...none, tryAgain: true };
    case "success":
      return none;
  }
}
