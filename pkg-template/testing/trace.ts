// The trace of a call: its states as plain values, which can be compared, printed and sent elsewhere.
import type { CallState, Failure } from "../index.js";
import type * as Api from "../testing.js";

type Details = Omit<Api.TraceEntry, "status" | "attempt" | "at">;

const nameOf = (error: unknown): string => (error as Error | undefined)?.name ?? String(error);

const causeOf = ({ kind, status }: Failure): string => (status === undefined ? kind : String(status));

/** What a call ended with. An error that is no failure of an attempt, such as a hook's, goes by its name. */
function outcomeOf(
  { response, error }: { response?: Response; error?: unknown },
  failures: readonly Failure[],
): string {
  if (response) return String(response.status);
  const last = failures[failures.length - 1];
  return last && last.error === error ? last.kind : nameOf(error);
}

function details(state: CallState): Details {
  switch (state.status) {
    case "loading":
      return state.probe ? { probe: true } : {};
    case "waiting":
      return { delay: state.delay, source: state.source, cause: causeOf(state.cause) };
    case "circuit-open":
      return { circuit: state.circuit, probeInFlight: state.probeInFlight, settled: state.settled };
    case "success":
      return { cause: String(state.response.status) };
    case "failed":
      return { reason: state.reason, cause: outcomeOf(state, state.failures) };
    case "exhausted":
      return { reason: state.reason, cause: outcomeOf(state, state.failures), ...(state.held && { held: true }) };
    case "cancelled":
      return { cause: nameOf(state.reason) };
    default:
      return {};
  }
}

/** Whether the two differ by nothing but when they were. */
function alike(a: Api.TraceEntry, b: Api.TraceEntry): boolean {
  return JSON.stringify({ ...a, at: 0 }) === JSON.stringify({ ...b, at: 0 });
}

function word({ status, delay, reason }: Api.TraceEntry): string {
  if (delay !== undefined) return `${status} ${Math.round(delay)}`;
  return reason ? `${status} ${reason}` : status;
}

export const callTrace: typeof Api.callTrace = (call) => {
  if (typeof call?.subscribe !== "function" || typeof call.retryNow !== "function") {
    throw new TypeError("steadfetch/testing: callTrace() takes what client.start() returns");
  }
  const began = Date.now();
  const entries: Api.TraceEntry[] = [];
  const stop = call.subscribe((state) => {
    const { status, attempt, run } = state;
    const again = run > 1 ? { run } : {};
    const entry = Object.freeze({ status, attempt, at: Date.now() - began, ...again, ...details(state) });
    const last = entries[entries.length - 1];
    if (!last || !alike(last, entry)) entries.push(entry);
  });
  return Object.defineProperties(entries, {
    text: { get: () => entries.map(word).join(" > ") },
    stop: { value: stop },
  }) as unknown as Api.CallTrace;
};
