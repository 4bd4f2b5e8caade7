// What the small apps show, the same in each framework.
import { sentence, short } from "../../sentence.js";

/** The headline, with the seconds that are left. */
export function headline(state) {
  // Reading `remaining` is what makes a component count down.
  const now = "remaining" in state && state.retryAt ? state.retryAt - state.remaining : Date.now();
  return sentence(state, now).headline;
}

/** The line below it, which has no countdown. */
export const detail = (state) => sentence(state, state.since).detail;

/** What the two buttons are for. They rest where they are of no use, and do not go: so the focus stays. */
export function offers({ status, settled }) {
  const pending = ["loading", "waiting", "offline"].includes(status) || (status === "circuit-open" && !settled);
  const over = !pending && !["idle", "success"].includes(status);
  return {
    again: over ? "Try again" : "Try now",
    rests: !over && (!pending || status === "loading"),
    go: ({ retry, retryNow }) => (over ? retry() : retryNow()),
    cancel: pending,
  };
}

export function circuitLine(circuits) {
  const open = circuits.find(({ status }) => status !== "closed");
  if (!open) return "The server is fine.";
  if (open.status === "half-open") return "Problems connecting: checking now.";
  return `Problems connecting: next check in ${Math.ceil(open.remaining / 1000)} s.`;
}

export const clientLine = ({ loading, waiting, offline, queued }) =>
  `${loading} loading, ${waiting + offline + queued} waiting`;

/** What is going on with a comment, with the seconds that are left. */
export function commentLine({ meta, state }) {
  switch (state.status) {
    case "waiting":
      return `${meta}: ${state.retryAt ? `sent again in ${short(state.remaining)}` : "waits for the server"}`;
    case "offline":
      return `${meta}: kept until you are online`;
    case "rejected":
      return `${meta}: refused with ${state.response?.status}`;
    default:
      return `${meta}: ${state.status}`;
  }
}

export const outboxLine = ({ count, rejected }) => `${count} not delivered yet, ${rejected.length} refused`;

/** Counts how often a component was rendered, for whoever wants to know. */
export function rendered(name) {
  globalThis.renders ??= {};
  globalThis.renders[name] = (globalThis.renders[name] ?? 0) + 1;
}
