// A client's state as a line: the most important of what is not well, or none.
import type { CallState, ClientSnapshot } from "../index.js";
import { type Key, type Line, until } from "./line.ts";

/** Whether a call waits for something, and is not being sent. */
export const waits = (state: CallState): boolean =>
  state.status === "waiting" || state.status === "offline" || (state.status === "circuit-open" && !state.settled);

/** Whether a click ends that. */
const canGo = (state: CallState): boolean =>
  state.status !== "circuit-open" || (!state.probeInFlight && state.retryAt !== null);

/** `calls`: those known to wait. */
export function clientLine(snapshot: ClientSnapshot, calls: readonly CallState[], now: number): Line | undefined {
  const { loading, waiting, offline, queued, online, nextRetryAt, openCircuits } = snapshot;
  const count = waiting + offline + queued;
  const line = (status: string, headline: Key, details: readonly Key[], left = 0): Line => ({
    status_: status,
    // Not the numbers: they change with each call.
    identity_: headline,
    headline_: headline,
    details_: details,
    values_: { count },
    left_: left,
    ...(calls.length && {
      again_: "tryNow",
      rests_: !calls.some(canGo),
      cancel_: calls.length > 1 ? "cancelAll" : "cancel",
    }),
  });

  if (!online) return line("offline", "offline", count ? ["offlineCalls"] : []);
  if (openCircuits.length) {
    const circuit = (headline: Key, left?: number): Line =>
      line("circuit-open", headline, headline === "circuitHeld" ? [] : ["tooManyFailed"], left);
    // Of several circuits, what happens next.
    const times = openCircuits.map(({ openUntil }) => openUntil ?? Infinity);
    const next = Math.min(...times);
    if (openCircuits.some(({ status }) => status === "half-open"))
      return circuit(loading ? "circuitChecking" : "circuitDue");
    if (next === Infinity) return circuit("circuitHeld");
    const left = until(next, now);
    return circuit(left ? "circuit" : "circuitDue", left);
  }
  if (count) {
    const left = until(nextRetryAt, now);
    return line("waiting", "waitingCalls", left ? ["nextTry"] : [], left);
  }
  return;
}
