// A call's state as a line. Pure: the same state and time give the same.
import type { CallState, ExhaustedState, FailedState, WaitingState } from "../index.js";
import { type Key, type Line, until } from "./line.ts";

const FAILURE = "failure";
/** What each reason says; "failure" is that of the last attempt. */
const FAILED: { readonly [Reason in FailedState["reason"]]: readonly (Key | typeof FAILURE)[] } = {
  status: [FAILURE],
  vetoed: [FAILURE],
  "not-idempotent": [FAILURE, "notIdempotent"],
  "body-not-replayable": [FAILURE, "notReplayable"],
  "invalid-request": ["brokenPage"],
  "callback-threw": ["brokenPage"],
  offline: ["failedOffline"],
};
const EXHAUSTED: { readonly [Reason in ExhaustedState["reason"]]: readonly (Key | typeof FAILURE)[] } = {
  limit: [FAILURE, "limit"],
  budget: [FAILURE, "budget"],
  "total-timeout": ["totalTimeout"],
  "retry-after-too-long": ["askedToWait"],
};

/** Waits that the server set, which it did in an answer. */
const ASKED: readonly WaitingState["source"][] = ["retry-after", "rate-limit"];

export function callLine(state: CallState, now: number): Line | undefined {
  const { id, run, attempt, maxAttempts: max, since, status, failures } = state;
  const failure = status === "waiting" ? state.cause : failures[failures.length - 1];
  const answer = "response" in state ? state.response : failure;
  const probe = "probeInFlight" in state && state.probeInFlight;
  const at = "retryAt" in state ? state.retryAt : null;
  const left = until(at, now);

  const line = (headline: Key, details: readonly (Key | typeof FAILURE)[], rest?: Partial<Line>): Line => ({
    status_: status,
    identity_: [id, run, attempt, status, since, probe].join(),
    headline_: headline,
    details_: details.flatMap((detail) => (detail === FAILURE ? (failure?.kind ?? []) : detail)),
    // A status is a name and no amount, whatever the digits of the language are.
    values_: { attempt: attempt + +(status === "waiting"), max, count: attempt, status: answer?.status?.toString() },
    left_: left,
    ...rest,
  });
  const pending = { again_: "tryNow", cancel_: "cancel" } as const;
  const resting = { ...pending, rests_: true };
  const over = { again_: "tryAgain" } as const;

  switch (status) {
    case "idle":
      return line("idle", [], resting);
    case "loading":
      return line(max > 1 ? "loading" : "loadingOnce", state.probe ? ["probe"] : [], resting);
    case "waiting":
    case "circuit-open": {
      // The smaller one: `remaining` is late where nobody had subscribed, the time of day where the clock was set.
      const counting = { ...pending, left_: Math.min(state.remaining, left) };
      if (status === "waiting") {
        if (!attempt) return line("waitingFirst", ["askedToWait"], counting);
        return line("waiting", ASKED.includes(state.source) ? ["asked"] : [FAILURE], counting);
      }
      const { settled } = state;
      const held = settled ? over : resting;
      if (probe) return line("circuitChecking", [settled ? "refusedChecking" : "tooManyFailed"], held);
      if (at === null) return line("circuitHeld", [], held);
      if (settled) return line(left ? "refused" : "refusedDue", ["tooManyFailed"], over);
      return line("circuit", ["tooManyFailed"], counting);
    }
    case "offline":
      return line("offline", ["offlineCall"], pending);
    case "success":
      return line("success", []);
    case "failed":
      return line("failed", FAILED[state.reason] ?? [], over);
    case "exhausted": {
      const details = [...(EXHAUSTED[state.reason] ?? [])];
      if (left) details.push("notBefore");
      if (state.held) details.push("held");
      return line("exhausted", details, state.held ? { ...over, cancel_: "cancel" } : over);
    }
    case "cancelled":
      return line("cancelled", [], over);
  }
  // Of a version that has more states than this one knows.
  return;
}
