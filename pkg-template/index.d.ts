// steadfetch: its public types.
//
// All durations are milliseconds. Every `...At` is wall-clock milliseconds since 1970-01-01 UTC. `undefined` always
// means "use the default". A bad option throws a RangeError or TypeError that names the option's path: at
// createFetch() and extend() for client options, as a rejection before any request for call options.

// For projects whose "lib" is older than ES2024's explicit resource management.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly observable: symbol;
  }
}

/** What RxJS and its kin take by `from()`. It does not end, since a call may be run again. */
export interface Subscribable<T> {
  /** Calls `next` at once with the present value, then on each change. */
  subscribe(observer: { next?: ((value: T) => void) | undefined }): {
    /** No more values. */
    unsubscribe(): void;
  };
}

// ---------------------------------------------------------------- options

/**
 * How waits are drawn from the growing one: anywhere from 0 to it, from its half to it, from the base to three times the
 * wait before, or not at all.
 */
export type Jitter = "full" | "equal" | "decorrelated" | "none";

/** Which attempts are repeated, how often and how long after. All durations are milliseconds. */
export interface RetryOptions {
  /** Retries after the first attempt; default 4 (5 attempts at most). */
  limit?: number | undefined;
  /** Methods that may be sent again without an idempotency key; default GET HEAD OPTIONS TRACE PUT DELETE QUERY (byte-exact, as in Request.method). */
  methods?: readonly string[] | undefined;
  /** Statuses worth another attempt, "5xx" being all of 500 to 599; default 408 425 429 and every 5xx but 501 505 506 507 508 510 511. */
  statusCodes?: readonly (number | "5xx")[] | undefined;
  /** Base of the exponential, or a function that gives the whole wait; default 250. */
  delay?: number | ((ctx: RetryContext) => number | undefined | Promise<number | undefined>) | undefined;
  /** Growth per retry; default 2. */
  factor?: number | undefined;
  /** Ceiling of one backoff wait, applied BEFORE jitter; default 8_000. */
  backoffLimit?: number | undefined;
  /** Floor of one wait; 1_000 in a page, so that a countdown does not flicker; default 0. */
  minDelay?: number | undefined;
  /** How waits are spread so that clients do not come back together; default "full". */
  jitter?: Jitter | undefined;
  /** A server that asks for a longer wait ends the call (see ExhaustedState); default 60_000. */
  maxRetryAfter?: number | undefined;
  /** Whether an attempt that timed out may be retried; default true. */
  retryOnTimeout?: boolean | undefined;
  /** Decides for a failed attempt; undefined = decide as usual. Limit, budget and replayability always hold. */
  shouldRetry?: ((ctx: RetryContext) => boolean | undefined | Promise<boolean | undefined>) | undefined;
  /**
   * Runs right before each further attempt of a run, not before its first. The request as last changed is what a later
   * run sends.
   */
  beforeRetry?: ((ctx: RetryContext) => Request | void | Promise<Request | void>) | undefined;
}

/** What a callback of `retry` is told of an attempt that failed. */
export interface RetryContext {
  /** The attempt that just ended, from 1. */
  readonly attempt: number;
  /** What was sent, its body not to be read; for `beforeRetry` what is to be sent, to change or to make another from. */
  readonly request: Request;
  /** Set for an HTTP outcome. `shouldRetry` and `delay` may read its body, which is a copy; for `beforeRetry` it is gone. */
  readonly response?: Response;
  /** Set for a network or timeout outcome. */
  readonly error?: unknown;
  /** The wait that would follow; for `beforeRetry` the one that is over. */
  readonly delay: number;
  /** That of the attempt; after a timeout it is aborted already. */
  readonly signal: AbortSignal;
}

/** When a circuit opens, for how long, and how it closes again. All durations are milliseconds. */
export interface BreakerOptions {
  /** One circuit per key; default "origin". */
  key?: "origin" | ((request: Request) => string) | undefined;
  /** Failures in a row that open it; default 5; 0 switches this rule off. */
  consecutiveFailures?: number | undefined;
  /** Share of failures in the window that opens it, above 0 to 1; default 0.5. */
  failureRate?: number | undefined;
  /** Outcomes in the window before failureRate counts; default 10. */
  minimumCalls?: number | undefined;
  /** Sliding time window in 10 buckets; default 30_000. */
  window?: number | undefined;
  /** An answer slower than this is slow; default: off. */
  slowCallDuration?: number | undefined;
  /** Share of slow answers that opens it, above 0 to 1; default 1. */
  slowCallRate?: number | undefined;
  /** First open time; default 30_000. */
  halfOpenAfter?: number | undefined;
  /** Open time doubles per failed probe up to this, equal jitter; default 120_000. */
  maxOpen?: number | undefined;
  /** Concurrent probes; default 1. */
  halfOpenProbes?: number | undefined;
  /** Successes that close it; default 1. */
  halfOpenSuccesses?: number | undefined;
  /** A probe unsettled for this long is given up; default: attempt timeout + 5_000, else 30_000. */
  probeLease?: number | undefined;
  /**
   * "tabs": circuits, parked keys and budgets are shared by the tabs of the origin, and one probe is sent by all of them
   * together; an option of createFetch() or extend(); default false.
   */
  share?: "tabs" | false | undefined;
  /** Whether an outcome counts as a failure; undefined = decide as usual. The response is the caller's: look, do not read. */
  isFailure?: ((outcome: { response?: Response; error?: unknown }) => boolean | undefined) | undefined;
}

/**
 * Retry throttle, one bucket of tokens per circuit key; never waits, only refuses. A failure that might be retried costs
 * one token; a person's click is free, and so is what fails offline. A "small" fleet gets one back in 10 s.
 */
export interface BudgetOptions {
  /** Default 10; a retry is allowed while tokens > capacity / 2. */
  capacity?: number | undefined;
  /** Tokens given back per first-attempt success; default 0.1. */
  ratio?: number | undefined;
  /** "small" starts full; "large" starts at capacity/2 plus one retry with probability 0.25; default "small". */
  fleet?: "small" | "large" | undefined;
}

/** The options of a client, and of a single call. A bad value throws a RangeError or TypeError that names it. */
export interface SteadOptions {
  /** A number is { limit }; false is a limit of 0, which stays where extend() or a call gives other members only. */
  retry?: number | RetryOptions | false | undefined;
  /** Per attempt, to response headers (or the whole body, see covers); default 30_000. */
  timeout?: number | false | undefined;
  /** Attempts and waits together; default false. */
  totalTimeout?: number | false | undefined;
  /** "body": the body download belongs to the attempt (retried, timed); default "headers". */
  covers?: "headers" | "body" | undefined;
  /** One circuit breaker per key; default {}. */
  breaker?: BreakerOptions | false | undefined;
  /** Refuses retries while too much fails under a key: such a call is `exhausted`, "budget"; default {}. */
  budget?: BudgetOptions | false | undefined;
  /**
   * Makes writes repeatable: "auto" sends a random UUID, the same on every attempt and run; default false. So does a
   * header of that name which the caller sets.
   */
  idempotencyKey?: false | "auto" | string | ((request: Request) => string) | undefined;
  /** Header that carries the key; default Idempotency-Key, "raw" ("sf-string" puts it in quotes, RFC 8941). */
  idempotencyHeader?:
    | {
        /** Default "Idempotency-Key". */
        name?: string;
        /** Default "raw". */
        format?: "raw" | "sf-string";
      }
    | undefined;
  /** What a call does that its circuit refuses; default "reject". */
  onCircuitOpen?: "reject" | "wait" | undefined;
  /** What a call does while `navigator.onLine` is false; default "wait". */
  onOffline?: "wait" | "reject" | "ignore" | undefined;
  /** "hold": the promise stays pending until retry() or cancel(); default "settle". */
  onExhausted?: "settle" | "hold" | undefined;
  /** Default false: an HTTP failure resolves with its Response, as fetch does. */
  throwHttpErrors?: boolean | undefined;
  /** Countdown updates while someone subscribes; default 1_000, aligned to whole seconds left. */
  tickInterval?: number | false | undefined;
  /** Default: globalThis.fetch, looked up at each call. */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * Tells on the console, each cause once per page, what only developers can mend: a Retry-After hidden by CORS, another layer
   * that retries as well, a POST not sent again for want of a key. Default: only where a bundler sets NODE_ENV to
   * "development".
   */
  debug?: boolean | undefined;
  /** User Timing marks and measures, so that attempts and waits show in the browser's performance panel; default false. */
  trace?: boolean | undefined;
  /**
   * What happens where neither WebAssembly nor its stand-in in JavaScript can be had. true: each call goes through the
   * platform's fetch, or `fetch` above, once, and its state says `degraded`; default false: each call fails with an error that
   * says why. Everything else in these options needs the core.
   */
  degrade?: boolean | undefined;
}

/** What fetch takes as its second argument, with the options for this call. */
export interface SteadInit extends Omit<RequestInit, "body">, SteadOptions {
  /** As for fetch, or a factory, called once per attempt, which makes a stream replayable. */
  body?: BodyInit | null | (() => BodyInit | Promise<BodyInit>) | undefined;
  /** The same as a factory in `body`. */
  bodyFactory?: (() => BodyInit | Promise<BodyInit>) | undefined;
  /** Told of each state of this call. */
  onState?: ((state: CallState) => void) | undefined;
}

// ---------------------------------------------------------------- state

/** Pending: the first five ("circuit-open" may be settled). Settled: the others ("exhausted" may be held). */
export type CallStatus =
  | "idle"
  | "loading"
  | "waiting"
  | "offline"
  | "circuit-open"
  | "success"
  | "failed"
  | "exhausted"
  | "cancelled";

/** No answer, none in time, or one whose status is a failure. */
export type FailureKind = "network" | "timeout" | "status";
/** A failed attempt. */
export interface Failure {
  /** What went wrong. */
  readonly kind: FailureKind;
  /** Of the answer, where there was one. */
  readonly status?: number;
  /** Of the attempt, where there was no answer. */
  readonly error?: unknown;
  /** When the attempt ended, in wall-clock milliseconds. */
  readonly at: number;
  /** Of the attempt, in milliseconds. */
  readonly duration: number;
}

/** What every state of a call has. */
interface StateBase {
  /** Tells the states apart. */
  readonly status: CallStatus;
  /** Of the call, unique in the client. */
  readonly id: number;
  /** 1, and one more after each retry() from a settled state. */
  readonly run: number;
  /** Attempts started in this run. */
  readonly attempt: number;
  /** How many a run may have: `retry.limit` and the first. */
  readonly maxAttempts: number;
  /** Of every run. */
  readonly failures: readonly Failure[];
  /** When the status became what it is. */
  readonly since: number;
  /** There is no core, and this call went through without, see the option `degrade`: once, and by no circuit. */
  readonly degraded?: true;
}
/** Seen only before the call has begun, which start() does before it returns, and while the call waits for the core. */
export interface IdleState extends StateBase {
  readonly status: "idle";
}
/** An attempt is under way. */
export interface LoadingState extends StateBase {
  readonly status: "loading";
  /** It decides whether a half-open circuit closes. */
  readonly probe: boolean;
}
/** The next attempt comes by itself, later. */
export interface WaitingState extends StateBase {
  readonly status: "waiting";
  /** When the next attempt begins, in wall-clock milliseconds. */
  readonly retryAt: number;
  /** Time left: the whole wait first, then whole steps of `tickInterval` while someone subscribes. */
  readonly remaining: number;
  /** The whole wait. */
  readonly delay: number;
  /** Who set the wait: the usual growing ones, a header of the server's, or the function `delay`. */
  readonly source: "backoff" | "retry-after" | "rate-limit" | "custom";
  /**
   * The failure that made it wait. Of a call that is held back because another was given a `Retry-After`, that answer: its
   * status, and a duration of 0.
   */
  readonly cause: Failure;
}
/** The browser is offline, and the call goes on when it is not. */
export interface OfflineState extends StateBase {
  readonly status: "offline";
  /**
   * When it is tried all the same, in case the browser is wrong; after `online`, when it goes on, within a second (within
   * five with a "large" fleet).
   */
  readonly nextProbeAt: number;
}
/** Its circuit refuses the call, or lets it wait: see `settled`. */
export interface CircuitOpenState extends StateBase {
  readonly status: "circuit-open";
  /** The key of the circuit. */
  readonly circuit: string;
  /** null while a probe is out, or while the circuit is held open by hand. */
  readonly retryAt: number | null;
  /** Time left until then in milliseconds, in whole steps of `tickInterval` while someone subscribes. */
  readonly remaining: number;
  /** Another call is out, and its outcome decides. */
  readonly probeInFlight: boolean;
  /** True with `onCircuitOpen: "reject"`: the call is over. */
  readonly settled: boolean;
}
/** The headers are here; with `covers: "body"` the body too. */
export interface SuccessState extends StateBase {
  readonly status: "success";
  /** The answer, the same object that the promise resolves with. */
  readonly response: Response;
}
/**
 * Another attempt would not help or is not allowed. Where neither WebAssembly nor its stand-in can be had the reason is
 * "invalid-request", and the error says why.
 */
export interface FailedState extends StateBase {
  readonly status: "failed";
  /** The last answer, where there was one. */
  readonly response?: Response;
  /** What went wrong, where there was no answer. */
  readonly error?: unknown;
  /** Why there is no other attempt. */
  readonly reason:
    | "status"
    | "not-idempotent"
    | "body-not-replayable"
    | "vetoed"
    | "invalid-request"
    | "callback-threw"
    | "offline";
}
/** Another attempt might have helped, but there is none left. */
export interface ExhaustedState extends StateBase {
  readonly status: "exhausted";
  /** The last answer, where there was one. */
  readonly response?: Response;
  /** What went wrong, where there was no answer. */
  readonly error?: unknown;
  /** What is used up. */
  readonly reason: "limit" | "budget" | "total-timeout" | "retry-after-too-long";
  /** When the server would have the call again, where it said so. */
  readonly retryAt?: number;
  /** True with `onExhausted: "hold"`: the promise is pending until retry() or cancel(). */
  readonly held: boolean;
}
/** Given up by `cancel()`, a signal or `dispose()`. */
export interface CancelledState extends StateBase {
  readonly status: "cancelled";
  /** What was given as the reason, else an AbortError. */
  readonly reason: unknown;
}
/** What a call is doing, told apart by `status`. */
export type CallState =
  | IdleState
  | LoadingState
  | WaitingState
  | OfflineState
  | CircuitOpenState
  | SuccessState
  | FailedState
  | ExhaustedState
  | CancelledState;

/** A request with all its attempts and waits, to be looked at and acted upon; a promise of its response as well. */
export interface Call extends PromiseLike<Response>, AsyncIterable<CallState> {
  /** Unique in the client. */
  readonly id: number;
  /** What is asked for. */
  readonly request: {
    /** As in Request.method. */
    readonly method: string;
    /** As it was given, made absolute. */
    readonly url: string;
  };
  /** Immutable; same object until it changes. */
  readonly state: CallState;
  /** Of the current run, with `catch` and `finally`; never an unhandled rejection if nobody looks at it. */
  readonly response: Promise<Response>;
  /** Calls at once with the present state, then on each change. */
  readonly subscribe: (listener: (state: CallState) => void) => () => void;
  /** Same identity rule as `state`. */
  readonly getSnapshot: () => CallState;
  /**
   * Waiting, offline or circuit-open: go now (a human's click); false if it has no effect, as while another call is the
   * probe.
   */
  readonly retryNow: () => boolean;
  /**
   * Settled or held: a new run, same Idempotency-Key, attempt count from 0. Circuit-open again while another call is the
   * probe.
   */
  readonly retry: () => Promise<Response>;
  /** Any pending state. */
  readonly cancel: (reason?: unknown) => void;
  /** Cancel, if pending. */
  [Symbol.dispose](): void;
  /** Its states. */
  [Symbol.observable](): Subscribable<CallState>;
}

/** The detail of state-change events. */
export interface StateChange {
  /** Of the call. */
  readonly id: number;
  /** As in Request.method. */
  readonly method: string;
  /** As in `call.request`. */
  readonly url: string;
  /** The status before, which may be the same. */
  readonly from: CallStatus;
  /** The state now. */
  readonly state: CallState;
  /** To act on it, also where it was started as a plain fetch. */
  readonly call: Call;
}

// ---------------------------------------------------------------- circuits and client

/** Calls go out; none do; a probe decides; none do until a hold by hand is let go. */
export type CircuitStatus = "closed" | "open" | "half-open" | "isolated";
/** A circuit at one moment. */
export interface CircuitState {
  /** An origin, or what `breaker.key` gave. */
  readonly key: string;
  /** What it lets through. */
  readonly status: CircuitStatus;
  /** When it becomes half-open, in wall-clock milliseconds; null where it is not open, or held open by hand. */
  readonly openUntil: number | null;
  /** Time left until it becomes half-open, in milliseconds, rounded up to whole seconds. */
  readonly remaining: number;
  /** Failures in a row until now. */
  readonly consecutiveFailures: number;
  /** Share of failures in the window. */
  readonly failureRate: number;
  /** Outcomes in the window. */
  readonly calls: number;
  /** Why it is not closed. */
  readonly reason?: "consecutive" | "failure-rate" | "slow-rate" | "retry-after" | "probe-failed" | "isolated";
}
/** The circuits of a client. */
export interface Circuits extends Iterable<CircuitState> {
  /** That of a key, where there is one. */
  get(key: string): CircuitState | undefined;
  /** Calls at once with the present circuits, then at most once per turn. */
  readonly subscribe: (listener: (circuits: readonly CircuitState[]) => void) => () => void;
  /** The same array until one of them changes. */
  readonly getSnapshot: () => readonly CircuitState[];
  /**
   * Hold open by hand; the returned function lets go, and the circuit is what failures have made of it. Throws a
   * RangeError where 1,000 are held already.
   */
  isolate(key: string): () => void;
  /** Closes the circuit of that key, or all, and forgets their outcomes; a hold by hand stays. */
  reset(key?: string): void;
}

/** How many calls are in which state, and what a status line needs. */
export interface ClientSnapshot {
  /** Attempts under way. */
  readonly loading: number;
  /** Calls that wait for their next attempt. */
  readonly waiting: number;
  /** Calls that wait for the network. */
  readonly offline: number;
  /** Waiting for their turn at an open circuit. */
  readonly queued: number;
  /** What the browser says. */
  readonly online: boolean;
  /** For a countdown the page needs a timer: this does not change while calls wait. */
  readonly nextRetryAt: number | null;
  /** Those that are not closed. */
  readonly openCircuits: readonly CircuitState[];
  /** There is no core, and calls go through without, see the option `degrade`. */
  readonly degraded?: true;
}

/** The events of a client by their names. */
export type SteadEventMap = {
  [Status in Exclude<CallStatus, "idle">]: CustomEvent<
    StateChange & {
      /** The state that was entered. */
      readonly state: Extract<CallState, { readonly status: Status }>;
    }
  >;
} & {
  /** Each change of each call. */
  statechange: CustomEvent<StateChange>;
  /** The budget has ended a call. */
  "budget-exhausted": CustomEvent<
    StateChange & {
      /** Its reason is "budget". */
      readonly state: ExhaustedState;
    }
  >;
  /** Each change of a circuit. */
  circuit: CustomEvent<CircuitState>;
  /** Once, after `dispose()`. */
  disposed: CustomEvent<undefined>;
};

/** A client: to be called like fetch, with circuits and stores that tell what its calls are doing. */
export interface SteadFetch {
  /** Drop-in for fetch. */
  (input: RequestInfo | URL, init?: SteadInit): Promise<Response>;
  /** The same, observable. */
  start(input: RequestInfo | URL, init?: SteadInit): Call;
  /** A client with these options over its own, member by member; shares circuits and the store with its parent. */
  extend(options: SteadOptions): SteadFetch;
  /** Calls under way in the order in which they began, also those that are held, and those without a Call so far. */
  calls(): readonly Call[];
  /** Its circuits, one per origin or per key of your own. */
  readonly circuits: Circuits;
  /** Calls at once with the present snapshot, then at most once per turn. */
  readonly subscribe: (listener: (snapshot: ClientSnapshot) => void) => () => void;
  /** The same object until it changes. */
  readonly getSnapshot: () => ClientSnapshot;
  /**
   * "statechange" for each change of each call, and one event per status ("waiting", "exhausted", "circuit-open", ...)
   * when a call enters it: `event.detail` is a StateChange. "budget-exhausted" when the budget ends a call. "circuit" for each change of a circuit: a CircuitState.
   * "disposed" once, after dispose().
   */
  addEventListener<Type extends keyof SteadEventMap>(
    type: Type,
    listener: (event: SteadEventMap[Type]) => void,
    options?: AddEventListenerOptions,
  ): void;
  /** The same for a name that is known at run time only. */
  addEventListener(type: string, listener: (event: CustomEvent) => void, options?: AddEventListenerOptions): void;
  /** Takes a listener away. */
  removeEventListener<Type extends keyof SteadEventMap>(
    type: Type,
    listener: (event: SteadEventMap[Type]) => void,
  ): void;
  /** The same for a name that is known at run time only. */
  removeEventListener(type: string, listener: (event: CustomEvent) => void): void;
  /** Open circuits, budgets and what a `Retry-After` holds back, as text that survives a reload: an outage must not look like health. */
  snapshot(): string;
  /**
   * Optional: instantiates the core ahead of the first call. Where WebAssembly is refused, its stand-in is loaded until then.
   * Rejects, with an error that says why, where there is neither; with `degrade: true` it resolves.
   */
  ready(): Promise<void>;
  /**
   * Cancels what is pending, removes every timer and listener; later calls reject with an InvalidStateError. Of a client
   * that extend() made, its own calls only; of the one that createFetch() made, also all that extend() made of it.
   */
  dispose(): void;
  /** Its snapshots. */
  [Symbol.observable](): Subscribable<ClientSnapshot>;
}
/**
 * A client with circuits of its own. `restore` is what `snapshot()` gave before a reload; null is nothing, and what is no
 * such text is ignored with a warning.
 */
export function createFetch(options?: SteadOptions, from?: { restore?: string | null | undefined }): SteadFetch;
/** `createFetch()` with the defaults, made on first use. */
export const steadfetch: SteadFetch;

// ---------------------------------------------------------------- errors (all extend Error; all have type guards)

/**
 * The circuit refused the next attempt. `cause` is the failure of the attempt before (a `Failure`), and undefined where
 * nothing was sent.
 */
export class CircuitOpenError extends Error {
  constructor(circuit: string, retryAt: number | null, cause?: Failure);
  /** The failure of the attempt before. */
  readonly cause: Failure | undefined;
  /** The key of the circuit. */
  readonly circuit: string;
  /** When the circuit becomes half-open, in wall-clock milliseconds; null where nobody knows. */
  readonly retryAt: number | null;
}
/** `onOffline: "reject"`, and the browser is offline. */
export class OfflineError extends Error {}
/** An attempt, or the whole run, took longer than its limit in milliseconds. */
export class TimeoutError extends Error {
  constructor(scope: "attempt" | "total", timeout: number);
  /** Which limit it was: `timeout` or `totalTimeout`. */
  readonly scope: "attempt" | "total";
  /** The limit in milliseconds. */
  readonly timeout: number;
}
/** An HTTP failure, with `throwHttpErrors` only. */
export class HttpError extends Error {
  constructor(response: Response, state: CallState);
  /** The last answer. */
  readonly response: Response;
  /** The state in which the call ended. */
  readonly state: CallState;
}
/** Whether it is a CircuitOpenError, be it of another copy of the package. */
export function isCircuitOpenError(e: unknown): e is CircuitOpenError;
/** Whether it is an OfflineError, be it of another copy of the package. */
export function isOfflineError(e: unknown): e is OfflineError;
/** Whether it is a TimeoutError of this package, be it of another copy of it. */
export function isTimeoutError(e: unknown): e is TimeoutError;
/** Whether it is an HttpError, be it of another copy of the package. */
export function isHttpError(e: unknown): e is HttpError;
