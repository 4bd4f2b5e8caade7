// What the panel remembers of calls: which state they were in, from when to when.
import type { Call, CallState, CallStatus, StateChange } from "../index.js";

/** A stretch of time in one state, on the clock of `performance`. */
export interface Stretch {
  readonly status: CallStatus;
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
  /** In a few words, for the reader. */
  readonly what: string;
}

export interface Row {
  readonly call: Call;
  readonly name: string;
  readonly stretches: Stretch[];
}

const MOST_ROWS = 50;
const MOST_STRETCHES = 100;
const OVER = new Set<CallStatus>(["success", "failed", "exhausted", "cancelled"]);

export const isOver = (state: CallState): boolean =>
  OVER.has(state.status) || (state.status === "circuit-open" && state.settled);

/** What comes after the path may be a secret. A request that could not be made has no address. */
function named({ method, url }: Call["request"]): string {
  if (!url) return "no request";
  const { host, pathname, search } = new URL(url);
  return `${method} ${host}${pathname}${search && "?…"}`;
}

function words(state: CallState): string {
  switch (state.status) {
    case "loading":
      return `attempt ${state.attempt} of ${state.maxAttempts}${state.probe ? ", the probe" : ""}`;
    case "waiting":
      return `waits ${Math.round(state.delay)} ms (${state.source})`;
    case "failed":
    case "exhausted":
      return `${state.status}: ${state.reason}`;
    case "success":
      return `success: ${state.response.status}`;
    default:
      return state.status;
  }
}

export class CallLog {
  readonly rows = new Map<number, Row>();

  private row(call: Call): Row {
    let row = this.rows.get(call.id);
    if (row) return row;
    this.rows.set(call.id, (row = { call, name: named(call.request), stretches: [] }));
    for (const [old, { call }] of this.rows) {
      if (this.rows.size <= MOST_ROWS) break;
      if (isOver(call.state)) this.rows.delete(old);
    }
    return row;
  }

  /** A call that was under way before the log. */
  meet(call: Call, now: number): void {
    const { status, since } = call.state;
    const from = now - (Date.now() - since);
    this.row(call).stretches.push({ status, from, to: Infinity, what: words(call.state) });
  }

  hear({ from, state, call }: StateChange, now: number): void {
    const row = this.row(call);
    const last = row.stretches.at(-1);
    // Ticks are no news.
    if (last && last.to === Infinity && from === state.status && last.what === words(state)) return;
    if (last) last.to = Math.min(last.to, now);
    row.stretches.push({ status: state.status, from: now, to: isOver(state) ? now : Infinity, what: words(state) });
    if (row.stretches.length > MOST_STRETCHES) row.stretches.shift();
  }

  /** Whether time alone changes what is shown. */
  get moves(): boolean {
    return [...this.rows.values()].some(({ call }) => !isOver(call.state));
  }

  /** Forgets calls that are over. */
  clear(): void {
    for (const [id, { call }] of this.rows) if (isOver(call.state)) this.rows.delete(id);
  }
}
