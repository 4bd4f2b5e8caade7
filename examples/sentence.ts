import type { CallState } from "steadfetch";

const seconds = (ms: number) => `${Math.ceil(ms / 1000)} s`;

export function sentence(state: CallState): string {
  switch (state.status) {
    case "idle":
      return "Loading";
    case "loading":
      return `Loading, attempt ${state.attempt} of ${state.maxAttempts}`;
    case "waiting":
      return `${state.attempt ? "Trying again" : "Starting"} in ${seconds(state.remaining)}`;
    case "offline":
      return "You are offline; this goes on when you are back";
    case "circuit-open":
      if (state.probeInFlight) {
        return state.settled ? "Another request is testing the server; try again in a moment" : "Testing the server";
      }
      if (state.retryAt === null) return "Requests to this server are switched off for now";
      return state.settled ? "The server has problems; try again" : `Next test in ${seconds(state.remaining)}`;
    case "success":
      return "Done";
    case "failed":
    case "exhausted":
      if (state.reason === "invalid-request" || state.reason === "callback-threw") return "This page made a mistake";
      return state.response ? `The server answered ${state.response.status}` : "No answer came";
    case "cancelled":
      return "Cancelled";
  }
}
