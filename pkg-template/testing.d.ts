// steadfetch/testing: a scripted server, a virtual clock and the trace of a call, for tests of what uses a client.
//
// All durations are milliseconds, but `retryAfter`, which is what the header says.
import type { Call, CallStatus, ExhaustedState, FailedState, WaitingState } from "./index.js";

// ---------------------------------------------------------------- the scripted server

/** An answer. */
export interface Answer {
  /** 200 to 599; default 200. */
  readonly status?: number | undefined;
  /** Default: none. */
  readonly headers?: HeadersInit | undefined;
  /** Default: none. A stream can be sent once: for a step that repeats let a function make it. */
  readonly body?: BodyInit | null | undefined;
  /** The header Retry-After: seconds, or a date. */
  readonly retryAfter?: number | Date | undefined;
  /** How long it takes to answer; default 0, which is the same turn. */
  readonly delay?: number | undefined;
}

/** "drop": no answer, as when the network is gone. "stall": none either, but the request stays open until it is aborted. */
export type FixedStep = number | Answer | "drop" | "stall";

/**
 * What a request is answered with. A function decides by the request, which it may read, and by those before it; what it
 * throws is what fetch rejects with.
 */
export type Step = FixedStep | ((request: Request, earlier: readonly Request[]) => FixedStep | Promise<FixedStep>);

/** A fetch without a network. It takes one step a request, and the last one again and again. */
export interface ScriptedFetch {
  (input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  /** Copies of the requests so far, in the order in which they came; their bodies can be read. */
  readonly requests: readonly Request[];
}

/**
 * For `createFetch({ fetch: script([503, 200]) })`, or in the place of `globalThis.fetch`. An abort ends a request at once,
 * with the signal's reason. What is no step throws a TypeError or RangeError that names it.
 */
export function script(steps: readonly Step[]): ScriptedFetch;

/** What `routeScript()` needs of Playwright's `Route`. */
export interface ScriptedRoute {
  /** What the page has sent. */
  request(): {
    /** Absolute. */
    url(): string;
    /** In capitals. */
    method(): string;
    /** Their names in small letters. */
    headers(): Record<string, string>;
    /** The body, where there is one. */
    postDataBuffer(): Uint8Array | null;
  };
  /** The body is Node's Buffer, a type that is not known here. */
  fulfill(answer: { status: number; headers: Record<string, string>; body: never }): Promise<void>;
  /** No answer. */
  abort(errorCode?: string): Promise<void>;
}

/** A handler for Playwright's `page.route()`, which runs in the test and not in the page. */
export function routeScript(script: ScriptedFetch): (route: ScriptedRoute) => Promise<void>;

// ---------------------------------------------------------------- the virtual clock

/** A clock that moves when it is told to. All durations are milliseconds. */
export interface VirtualClock {
  /** How far it has been moved. */
  readonly elapsed: number;
  /** Timers that are set. */
  readonly timers: number;
  /**
   * Moves the clock, and runs what is due on the way in its order. Before, between and after the timers everything else
   * gets its turn: promises settle, streams flow, the client goes on. Rejects with what a timer's function throws, at the
   * time of that timer. Moves that are asked for meanwhile come after this one.
   */
  advance(ms: number): Promise<void>;
  /** Puts the real clock back, once; timers that are still set never run. */
  restore(): void;
  /** The same. */
  [Symbol.dispose](): void;
}

/**
 * Takes the place of setTimeout, setInterval, their clear functions, Date and performance.now, until it is restored; then
 * time stands still but for `advance()`. Everything else stays real, `AbortSignal.timeout()` too. Make the client after it.
 * Throws where the clock is not the real one already: use either this or the fake timers of the test runner.
 *
 * @param options.now  what Date begins with; default: the present time
 */
export function virtualClock(options?: { readonly now?: number | Date | undefined }): VirtualClock;

// ---------------------------------------------------------------- the trace of a call

/** A state, without what differs from test to test. */
export interface TraceEntry {
  /** As in the state of the call. */
  readonly status: CallStatus;
  /** Attempts started in this run. */
  readonly attempt: number;
  /** Since the trace began. */
  readonly at: number;
  /** From the second on. */
  readonly run?: number;
  /** loading: where it is one. */
  readonly probe?: true;
  /** waiting. */
  readonly delay?: number;
  /** waiting. */
  readonly source?: WaitingState["source"];
  /** What made it wait, or what it ended with: a status as text, "network", "timeout", or an error's name. */
  readonly cause?: string;
  /** circuit-open: the key. */
  readonly circuit?: string;
  /** circuit-open. */
  readonly probeInFlight?: boolean;
  /** circuit-open. */
  readonly settled?: boolean;
  /** failed, exhausted. */
  readonly reason?: FailedState["reason"] | ExhaustedState["reason"];
  /** exhausted: where it is. */
  readonly held?: true;
}

/** A real array, whose other members are not enumerable: what compares and prints arrays sees the entries only. */
export interface CallTrace extends ReadonlyArray<TraceEntry> {
  /** "loading > waiting 250 > loading > success"; waits rounded to milliseconds. */
  readonly text: string;
  /** No more entries. */
  readonly stop: () => void;
}

/**
 * The states of a call from the present one on, without the ticks of countdowns. It grows until `stop()`, also by further
 * runs. As any subscriber it makes the client count down; with `jitter: "none"` the waits are the same each time.
 */
export function callTrace(call: Call): CallTrace;
