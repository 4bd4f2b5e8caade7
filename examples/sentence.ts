import type { CallState } from "steadfetch";

const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`;

export function sentence(state: CallState): string {
  switch (state.status) {
    case "idle":
    case "loading":
      return `Loading, attempt ${state.attempt} of ${state.maxAttempts}`;
    case "waiting":
      return `Trying again in ${seconds(state.remaining)}`;
    case "offline":
      return "You are offline; this goes on when you are back";
    case "circuit-open":
      if (state.settled) return "The server has problems; try again";
      if (state.probeInFlight) return "Checking the server";
      return state.retryAt === null ? "Not sent for now" : `Next check in ${seconds(state.remaining)}`;
    case "success":
      return "Done";
    case "failed":
    case "exhausted":
      return state.response ? `The server answered ${state.response.status}` : "No answer came";
    case "cancelled":
      return "Cancelled";
  }
}
