// One call on the JavaScript side: what it was made of, its promise, its state, and those who look at it. The core
// says what happens, by driver.ts.
import type { CallState, CallStatus, FailedState, Failure, RetryContext, SteadInit, SteadOptions } from "../index.js";
import { isRefused, onItsWay } from "./core.ts";
import { development, Hints, tellWrong } from "./debug.ts";
import type { Driver } from "./driver.ts";
import { CircuitOpenError, HttpError, OfflineError } from "./errors.ts";
import type { Family } from "./family.ts";
import type { Owner } from "./owner.ts";
import { out, platformFetch, sendBy } from "./platform.ts";
import { isThenable, Listeners, mustBeFunction } from "./report.ts";
import { Requests } from "./request.ts";
import { complete, giveUp, looked } from "./response.ts";
import { combines, follow, unwatch, watch } from "./signals.ts";
import { ProbeLock } from "./tabs.ts";
import { Trace } from "./trace.ts";

// The words for the numbers of src/web/told.rs.
const sources = ["backoff", "retry-after", "rate-limit", "custom"] as const;
const failedReasons = [
  "status",
  "not-idempotent",
  "body-not-replayable",
  "vetoed",
  "invalid-request",
  "callback-threw",
  "offline",
] as const;
const ownFaults = new Set<FailedState["reason"]>(["invalid-request", "callback-threw"]);
const exhaustedReasons = ["limit", "total-timeout", "retry-after-too-long", "budget"] as const;
const failureKinds = ["network", "timeout", "status"] as const;

/** The options of ours among those of a RequestInit. */
const ours =
  "retry timeout totalTimeout covers breaker budget idempotencyKey idempotencyHeader onCircuitOpen onOffline onExhausted throwHttpErrors tickInterval fetch debug trace degrade".split(
    " ",
  );

/** Infinity stands for "unknown". */
const known = <T>(at: number, unknown: T): number | T => (at === Infinity ? unknown : at);

export class Run {
  readonly id_: number;
  private made_: CallState | undefined;
  private make_!: () => CallState;
  private status_: CallStatus = "idle";
  private since_ = Date.now();
  method_ = "";
  url_ = "";
  /** Of the present run. */
  response_!: Promise<Response>;
  private resolve_: (response: Response) => void = () => {};
  private reject_: (error: unknown) => void = () => {};
  readonly listeners_: Listeners<CallState>;
  readonly owner_: Owner;
  private readonly family_: Family;
  private readonly input_: RequestInfo | URL;
  private readonly init_: SteadInit | undefined;
  /** The options among them, as they were when it had to wait. */
  private options_: object | undefined;
  /** A Call is out: it may be run again. */
  kept_: boolean;
  /** Its place in the core; undefined before and after. */
  private slot_: number | undefined;
  /** While the core does not have it: the attempts sent, 1 if it goes through without a core. */
  private outside_: number | undefined;
  private degraded_ = false;
  private requests_: Requests | undefined;
  private keyName_ = "";
  private keyValue_: string | undefined;
  private number_ = 1;
  private maxAttempts_ = 0;
  private debug_ = false;
  private hints_: Hints | undefined;
  private trace_: Trace | undefined;
  /** Of the request that `beforeRetry` made. */
  private signal_: AbortSignal | undefined;
  private probeLock_: ProbeLock | undefined;
  /** What hooks may read of the answer at hand. */
  private copy_: Response | undefined;
  private failures_: readonly Failure[] = Object.freeze([]);

  constructor(owner: Owner, input: RequestInfo | URL, init: SteadInit | undefined, kept: boolean) {
    this.owner_ = owner;
    this.family_ = owner.family_;
    this.input_ = input;
    this.init_ = init;
    this.kept_ = kept;
    this.id_ = ++owner.family_.lastId_;
    this.listeners_ = new Listeners((watched) => {
      if (this.slot_ !== undefined) this.core_?.watch_(this.slot_, watched);
    });
    this.set_("idle", 0, {});
  }

  /** Made when somebody looks, as it was when it was told. */
  get state_(): CallState {
    return (this.made_ ??= this.make_());
  }

  /** Begins the run of that number. Whatever is wrong is told as its end. */
  start_(number: number): Promise<Response> {
    const response = new Promise<Response>((resolve, reject) => {
      this.resolve_ = resolve;
      this.reject_ = reject;
    });
    this.response_ = response;
    // Nobody has to look at it: the state tells the same.
    if (this.kept_) response.catch(() => {});
    try {
      const onState = this.init_?.onState;
      if (onState !== undefined && number === 1) this.listeners_.add_(mustBeFunction(onState, "onState"));
    } catch (error) {
      this.wrong_(number, error);
      return response;
    }
    this.enter_(number);
    this.requests_?.hold_();
    return response;
  }

  /** Into the core; where there is none, it waits for one or goes through without. */
  private enter_(number: number): void {
    try {
      const init = this.init_;
      // Crossing into the core for options is for calls that have some, be it by inheritance.
      const options = this.options_ ?? (init && ours.some((name) => name in Object(init)) ? init : undefined);
      this.owner_.client_().start_(this.owner_.settings_(), this, number, options);
    } catch (error) {
      const coming = isRefused(error) && onItsWay();
      if (coming) this.await_(number, coming);
      else if (isRefused(error) && this.given_("degrade")) this.pass_(number);
      else this.wrong_(number, error);
    }
  }

  private wrong_(number: number, error: unknown): void {
    this.number_ = number;
    this.debug_ ||= !!this.given_("debug");
    this.failed_(0, 4, 1, error);
  }

  /** A new run of a call that is over, or the next run of one that is held. */
  retry_(): void {
    if (!this.pending_) this.start_(this.number_ + 1);
    else if ("held" in this.state_ && this.state_.held) {
      this.number_++;
      this.core_?.retry_(this.slot_ as number);
    }
  }

  // ------------------------------------------------------------ without a core

  /** An option, where there is no core to ask. */
  private given_<Name extends keyof SteadOptions>(name: Name): SteadOptions[Name] {
    return this.init_?.[name] ?? this.owner_.given_(name);
  }

  /** What was given may change meanwhile, and the caller may give up. */
  private async await_(number: number, coming: Promise<void>): Promise<void> {
    try {
      this.leave_(number, 0);
      const given = Object(this.init_);
      const names = ours.filter((name) => name in given);
      if (names.length) this.options_ = Object.fromEntries(names.map((name) => [name, given[name]]));
      if (this.isOutside_(number) && this.status_ !== "idle") this.tell_("idle", 0, {});
    } catch {
      // The core will tell.
    }
    await coming;
    if (!this.isOutside_(number)) return;
    this.outside_ = undefined;
    this.enter_(number);
  }

  /** One attempt, told as far as that goes. */
  private async pass_(number: number): Promise<void> {
    let requests: Requests | undefined;
    let request: Request | undefined;
    let custom: typeof fetch | undefined;
    const began = Date.now();
    try {
      custom = this.given_("fetch");
      if (custom !== undefined) mustBeFunction(custom, "fetch");
      requests = this.leave_(number, 1);
      if (!this.isOutside_(number)) return;
      this.maxAttempts_ = 1;
      this.family_.degrade_();
      this.loading_(1, false);
      if (!this.isOutside_(number)) return;
      request = await requests.next_(this.kept_);
    } catch (error) {
      if (requests && !this.isOutside_(number)) return;
      this.outside_ = undefined;
      if (requests && !requests.invalid_) this.failed_(1, 5, 1, error);
      else this.wrong_(number, error);
      return;
    }
    try {
      if (!this.isOutside_(number)) return;
      if (!custom) out.add(request);
      const response = await this.by_(custom, request);
      const { status, type } = looked(response);
      if (status === undefined || type === "error") throw new TypeError("steadfetch: fetch gave no answer");
      if (!this.isOutside_(number)) return giveUp(response);
      this.outside_ = undefined;
      // What is opaque has the status 0. Nothing here knows which of the others another attempt would help.
      if (status < 400) this.success_(1, response);
      else this.failed_(1, 0, this.given_("throwHttpErrors") ? 2 : 0, response);
    } catch (error) {
      if (!this.isOutside_(number)) return;
      this.outside_ = undefined;
      this.failure_(0, 0, error, began, Date.now() - began);
      this.exhausted_(1, 0, Number.POSITIVE_INFINITY, false, 1, error);
    } finally {
      out.delete(request);
    }
  }

  /** It was not cancelled meanwhile, and is not in another run. */
  private isOutside_(number: number): boolean {
    return this.outside_ !== undefined && this.number_ === number;
  }

  private by_(custom: typeof fetch | undefined, request: Request, init?: RequestInit): Promise<Response> {
    const fetch = custom ?? platformFetch();
    return sendBy(this.family_, () => (init ? fetch(request, init) : fetch(request)));
  }

  /** Outside of the core, where its request is made all the same, and its signals are heard. */
  private leave_(number: number, attempts: number): Requests {
    this.number_ = number;
    this.outside_ = attempts;
    this.degraded_ = attempts > 0;
    this.family_.live_.add(this);
    this.family_.changed_();
    const requests = this.prepare_();
    for (const signal of requests.signals_) watch(signal, this);
    if (this.givenUp_()) this.cancel_(this.reason_());
    return requests;
  }

  /** None before the first call, and none any more once the client is disposed of. */
  private get core_(): Driver | undefined {
    return this.family_.core_;
  }

  get pending_(): boolean {
    return this.slot_ !== undefined || this.outside_ !== undefined;
  }

  retryNow_(): boolean {
    return this.slot_ !== undefined && !!this.core_?.retryNow_(this.slot_);
  }

  /** Only if it waits for its circuit, where it is `queued`. */
  cancel_(reason: unknown, queued = false): void {
    if (this.slot_ !== undefined) this.core_?.cancel_(this.slot_, reason, queued);
    else if (this.outside_ !== undefined && !queued) {
      const attempts = this.outside_;
      this.outside_ = undefined;
      if (!this.requests_?.fresh_) this.abort_(reason);
      this.cancelled_(attempts, reason);
    }
  }

  // ------------------------------------------------------------ the request

  /** Makes the request, and tells what of it decides how the call begins. */
  open_(keyName: string): { replayable_: boolean; keyed_: boolean; aborted_: boolean; spent_: boolean } {
    this.keyName_ = keyName;
    const spent = !!this.requests_ && !this.requests_.replayable_ && !this.requests_.fresh_;
    const requests = this.prepare_();
    const keyed = requests.request_.headers.has(keyName);
    return { replayable_: requests.replayable_, keyed_: keyed, aborted_: this.givenUp_(), spent_: spent };
  }

  private prepare_(): Requests {
    const requests = (this.requests_ ??= new Requests(this.input_, this.init_));
    this.method_ = requests.request_.method;
    this.url_ = requests.request_.url;
    return requests;
  }

  get request_(): Request | undefined {
    return this.requests_?.request_;
  }

  reason_(): unknown {
    const signal = this.requests_?.signals_.find((signal) => signal.aborted);
    return signal ? signal.reason : new DOMException("The client was disposed", "AbortError");
  }

  key_(value: string): boolean {
    this.requests_?.request_.headers.set(this.keyName_, value);
    this.keyValue_ = value;
    return this.givenUp_();
  }

  replace_(request: Request): void {
    if (!(request instanceof Request)) {
      throw new TypeError("steadfetch: beforeRetry must return a Request or nothing");
    }
    const requests = this.requests_;
    if (!requests) return;
    requests.replace_(request);
    // It may have a signal of its own.
    if (this.signal_) unwatch(this.signal_, this);
    const { signal } = request;
    requests.signals_.splice(requests.given_, 1, signal);
    this.signal_ = signal;
    watch(signal, this);
    if (signal.aborted) this.cancel_(signal.reason);
  }

  begin_(slot: number, number: number, maxAttempts: number, debug: boolean, trace: boolean): boolean {
    this.slot_ = slot;
    this.degraded_ = false;
    this.number_ = number;
    this.maxAttempts_ = maxAttempts;
    this.family_.live_.add(this);
    this.debug_ = debug;
    if (this.requests_ && (debug || development())) this.hints_ = new Hints(this.method_, this.url_, number > 1);
    if (trace) this.trace_ ??= new Trace(this.id_, this.method_, this.url_);
    for (const signal of this.requests_?.signals_ ?? []) watch(signal, this);
    if (this.listeners_.some_) this.core_?.watch_(slot, true);
    return this.givenUp_();
  }

  private givenUp_(): boolean {
    return this.owner_.over_ || !!this.requests_?.signals_.some((signal) => signal.aborted);
  }

  send_(seq: number, retries: boolean, custom: typeof fetch | undefined): void {
    const slot = this.slot_;
    const requests = this.requests_;
    if (slot === undefined || !requests) return;
    const settled = (status: number, value: unknown): void => this.core_?.settled_(slot, seq, status, value);
    const failed = (error: unknown): void => this.family_.failed_(() => settled(-1, error));
    const admit = (bytes: number): boolean => !!this.core_?.keepAlive_(slot, seq, bytes);
    const send = (made: Request): void => {
      // Whatever a hook made of it, the key is that of the call.
      if (this.keyValue_ !== undefined) made.headers.set(this.keyName_, this.keyValue_);
      // A body factory has run, and may have taken its time.
      if (!this.core_?.awaits_(slot, seq)) return;
      const { request_: request, init_: init, release_: release } = requests.keptAlive_(made, admit);
      const back = (): void => {
        out.delete(request);
        release?.();
      };
      let answer: Promise<Response>;
      this.hints_?.sending_();
      try {
        if (!custom) out.add(request);
        answer = this.by_(custom, request, init);
      } catch (error) {
        back();
        failed(error);
        return;
      }
      Promise.resolve(answer).then(
        (response) => {
          back();
          const { status, type } = looked(response);
          if (status === undefined) settled(-2, new TypeError("steadfetch: fetch returned no Response"));
          else if (type === "error") failed(new TypeError("steadfetch: fetch gave a network error"));
          else if (this.core_?.awaits_(slot, seq)) {
            this.hints_?.answered_(response);
            settled(status, response);
          } else giveUp(response);
        },
        (error) => {
          back();
          failed(error);
        },
      );
    };
    const unsent = (error: unknown): void => this.core_?.unsent_(slot, seq, !requests.invalid_, error);
    try {
      const request = requests.next_(retries || this.kept_);
      if (request instanceof Request) send(request);
      else request.then(send).catch(unsent);
    } catch (error) {
      unsent(error);
    }
  }

  abort_(reason: unknown): void {
    this.requests_?.abort_(reason);
  }

  /** Asks a hook: 0 shouldRetry, 1 delay, 2 beforeRetry. */
  ask_(
    seq: number,
    question: number,
    hook: (context: RetryContext) => unknown,
    attempt: number,
    delay: number,
    response: Response | undefined,
    error: unknown,
  ): void {
    const slot = this.slot_;
    if (slot === undefined) return;
    const answered = (value: unknown): void => this.core_?.answered_(slot, seq, question, false, value);
    const threw = (value: unknown): void => this.core_?.answered_(slot, seq, question, true, value);
    let answer: unknown;
    try {
      answer = hook(this.context_(question === 2, attempt, delay, response, error));
      if (isThenable(answer)) {
        Promise.resolve(answer).then(answered, threw);
        return;
      }
    } catch (error) {
      threw(error);
      return;
    }
    answered(answer);
  }

  /** Asks for the lock that one tab alone has for a probe. */
  lock_(seq: number, key: string): void {
    const slot = this.slot_;
    if (slot === undefined) return;
    this.probeLock_ = new ProbeLock(key, seq, (lock) => !!this.core_?.locked_(slot, seq, lock));
  }

  unlock_(seq: number): void {
    this.probeLock_?.free_(seq);
  }

  /** Reads the body to its end. */
  read_(seq: number, response: Response): void {
    const slot = this.slot_;
    if (slot === undefined) return;
    complete(response).then(
      (equal) => this.core_?.bodyRead_(slot, seq, equal),
      (error) => this.family_.failed_(() => this.core_?.settled_(slot, seq, -1, error)),
    );
  }

  private context_(
    before: boolean,
    attempt: number,
    delay: number,
    response: Response | undefined,
    error: unknown,
  ): RetryContext {
    if (before) this.requests_?.prepare_();
    const request = ((!before && this.requests_?.out_) || this.request_) as Request;
    // The answer may yet be the caller's: a hook that decides reads from a copy. Before a retry it is spent.
    if (response && !before) {
      giveUp(this.copy_);
      this.copy_ = response = response.clone();
    }
    const outcome = response ? { response } : { error };
    return { attempt, request, ...outcome, delay, signal: request.signal };
  }

  // ------------------------------------------------------------ the state

  failure_(kind: number, status: number, error: unknown, at: number, duration: number): void {
    const outcome = status ? { status } : { error };
    const failure = Object.freeze({ kind: failureKinds[kind], ...outcome, at, duration }) as Failure;
    this.failures_ = Object.freeze([...this.failures_, failure]);
  }

  loading_(attempt: number, probe: boolean): void {
    this.tell_("loading", attempt, { probe });
  }

  waiting_(attempt: number, retryAt: number, remaining: number, delay: number, source: number, parked: number): void {
    // Another call was told to stay away, and this one with it.
    const before = this.state_.status === "waiting" ? this.state_ : undefined;
    const others = before?.cause ?? Object.freeze({ kind: "status", status: parked, at: Date.now(), duration: 0 });
    const cause = parked ? others : this.failures_[this.failures_.length - 1];
    this.tell_("waiting", attempt, { retryAt, remaining, delay, source: sources[source], cause });
  }

  offline_(attempt: number, nextProbeAt: number): void {
    this.tell_("offline", attempt, { nextProbeAt });
  }

  refused_(
    attempt: number,
    circuit: string,
    at: number,
    remaining: number,
    probeInFlight: boolean,
    settled: boolean,
  ): void {
    const retryAt = known(at, null);
    const state = { circuit, retryAt, remaining, probeInFlight, settled };
    const cause = attempt ? this.failures_[this.failures_.length - 1] : undefined;
    if (settled) this.end_("circuit-open", attempt, state, 1, new CircuitOpenError(circuit, retryAt, cause));
    else this.tell_("circuit-open", attempt, state);
  }

  success_(attempt: number, response: Response): void {
    this.end_("success", attempt, { response }, 0, response);
  }

  failed_(attempt: number, reason: number, how: number, value: unknown): void {
    const error = how === 3 ? new OfflineError() : value;
    const outcome = how === 1 || how === 3 ? { error } : { response: value };
    const name = failedReasons[reason] as FailedState["reason"];
    if (ownFaults.has(name) && (this.debug_ || development())) tellWrong(name, error);
    this.end_("failed", attempt, { ...outcome, reason: name }, how, error);
  }

  exhausted_(attempt: number, reason: number, at: number, held: boolean, how: number, given?: unknown): void {
    const last = this.failures_[this.failures_.length - 1];
    const value = how === 4 ? new CircuitOpenError(given as string, at, last) : given;
    const outcome = how === 1 || how === 4 ? { error: value } : { response: value };
    const retryAt = known(at, undefined);
    const state = { ...outcome, reason: exhaustedReasons[reason], ...(retryAt && { retryAt }), held };
    if (held) this.tell_("exhausted", attempt, state);
    else this.end_("exhausted", attempt, state, how, value);
  }

  cancelled_(attempt: number, reason: unknown): void {
    this.end_("cancelled", attempt, { reason }, 1, reason);
  }

  private set_(status: CallStatus, attempt: number, rest: object): void {
    if (status !== this.status_) this.since_ = Date.now();
    const { id_: id, number_: run, maxAttempts_: maxAttempts, failures_: failures, since_: since } = this;
    const degraded = this.degraded_ && { degraded: true };
    this.status_ = status;
    this.made_ = undefined;
    this.make_ = () =>
      Object.freeze({ status, id, run, attempt, maxAttempts, failures, since, ...degraded, ...rest }) as CallState;
  }

  private tell_(status: CallStatus, attempt: number, rest: object): void {
    const { family_: family, status_: before } = this;
    // The hooks have decided.
    giveUp(this.copy_);
    this.copy_ = undefined;
    this.set_(status, attempt, rest);
    if (!this.trace_ && !this.listeners_.some_ && !family.heard_) return;
    const state = this.state_;
    this.trace_?.tell_(state);
    this.listeners_.tell_(state);
    family.stateChanged_(this, before, state);
  }

  /** `how`: 0 resolves, 2 rejects with an HttpError, others reject with the value. */
  private end_(status: CallStatus, attempt: number, rest: object, how: number, value: unknown): void {
    // A listener may begin the next run, with a promise of its own.
    const { resolve_: resolve, reject_: reject } = this;
    this.slot_ = undefined;
    this.family_.live_.delete(this);
    const { signals_: signals, controller_: controller } = this.requests_ ?? {};
    for (const signal of signals ?? []) {
      unwatch(signal, this);
      if (controller && !combines() && how === 0 && (value as Response).body) {
        follow(signal, controller, value as Response);
      }
    }
    if (!this.core_) this.family_.changed_();
    this.tell_(status, attempt, rest);
    this.hints_?.ended_(this.state_);
    if (how === 0) resolve(value as Response);
    else reject(how === 2 ? new HttpError(value as Response, this.state_) : value);
  }
}
