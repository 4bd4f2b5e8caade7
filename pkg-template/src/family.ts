// What createFetch() makes, with all that extend() makes of it: one core, its events and its stores.
import type { Client } from "#glue";
import type { CallState, CallStatus, CircuitState, CircuitStatus, ClientSnapshot, StateChange } from "../index.js";
import { core } from "./core.ts";
import { TimeoutError } from "./errors.ts";
import { giveUp, Listeners, tell } from "./report.ts";
import type { Run } from "./run.ts";

// The words for the numbers of src/web/events.rs.
const circuitStatuses: readonly CircuitStatus[] = ["closed", "open", "half-open", "isolated"];
const circuitReasons: readonly CircuitState["reason"][] = [
  undefined,
  "consecutive",
  "failure-rate",
  "slow-rate",
  "retry-after",
  "probe-failed",
  "isolated",
];

/** What tells that network or visibility changed; the last two bubble up from the document. */
const pageEvents = ["online", "offline", "pageshow", "visibilitychange", "resume"];

/** The old value where the new one says the same, so that stores keep their identity. */
function kept<T extends object>(old: T | undefined, now: T): T {
  const keys = Object.keys(now) as (keyof T)[];
  return old && Object.keys(old).length === keys.length && keys.every((key) => Object.is(old[key], now[key]))
    ? old
    : Object.freeze(now);
}

/** What the core may call. It holds the family weakly: a client that nobody has any more goes by itself. */
export class Host {
  private readonly family_: WeakRef<Family>;

  constructor(family: Family) {
    this.family_ = new WeakRef(family);
  }

  mono_(): number {
    return globalThis.performance?.now() ?? Date.now();
  }

  page_(): number {
    const offline = globalThis.navigator?.onLine === false;
    const hidden = globalThis.document?.visibilityState === "hidden";
    return (offline ? 0 : 1) | (hidden ? 0 : 2);
  }

  listen_(on: boolean): void {
    this.family_.deref()?.listen_(on);
  }

  timeout_(scope: number, ms: number): TimeoutError {
    return new TimeoutError(scope ? "total" : "attempt", ms);
  }

  discard_(response: Response): void {
    giveUp(response);
  }

  rebuild_(response: Response, bytes: ArrayBuffer): Response {
    const { status, statusText, headers, url, type, redirected } = response;
    // An opaque answer shows nothing and cannot be made, and these statuses have no body.
    if (!status || [101, 103, 204, 205, 304].includes(status)) return response;
    const shown = { url, type, redirected };
    const like = (equal: Response): Response => {
      for (const [name, value] of Object.entries(shown)) Object.defineProperty(equal, name, { value });
      const clone = (): Response => like(Response.prototype.clone.call(equal));
      return Object.defineProperty(equal, "clone", { value: clone });
    };
    return like(new Response(bytes, { status, statusText, headers }));
  }

  outcome_(answered: boolean, value: unknown): { response?: unknown; error?: unknown } {
    return answered ? { response: value } : { error: value };
  }

  changed_(): void {
    this.family_.deref()?.changed_();
  }

  circuit_(
    event: boolean,
    key: string,
    status: number,
    until: number,
    remaining: number,
    consecutiveFailures: number,
    failureRate: number,
    calls: number,
    reason: number,
  ): CircuitState {
    const openUntil = until === Infinity ? null : until;
    const why = reason ? { reason: circuitReasons[reason] } : {};
    const counts = { consecutiveFailures, failureRate, calls };
    const state = { key, status: circuitStatuses[status], openUntil, remaining, ...counts, ...why } as CircuitState;
    if (event) this.family_.deref()?.dispatch_("circuit", Object.freeze(state));
    return state;
  }

  snapshot_(
    loading: number,
    waiting: number,
    offline: number,
    queued: number,
    online: boolean,
    retryAt: number,
  ): Omit<ClientSnapshot, "openCircuits"> {
    return { loading, waiting, offline, queued, online, nextRetryAt: retryAt === Infinity ? null : retryAt };
  }
}

/** A value that is made anew when it may have changed, and keeps its identity when it has not. */
class Kept<T> {
  fresh_ = false;
  private value_: T;

  constructor(value: T) {
    this.value_ = value;
  }

  /** Unless someone is `watching`, nobody says when it has changed. */
  get_(watching: boolean, make: (old: T) => T): T {
    if (!this.fresh_ || !watching) {
      this.value_ = make(this.value_);
      this.fresh_ = true;
    }
    return this.value_;
  }
}

export class Family {
  lastId_ = 0;
  /** Someone has added an event listener. */
  heard_ = false;
  /** Someone has added one for circuits. */
  private hears_ = false;
  readonly stores_: Listeners<void>;
  private readonly target_ = new EventTarget();
  private readonly wrapped_ = new WeakMap<object, (event: Event) => void>();
  private client_0: Client | undefined;
  over_ = false;
  private told_ = true;
  private circuits_ = new Kept<readonly CircuitState[]>(Object.freeze([]));
  private snapshot_ = new Kept<ClientSnapshot | undefined>(undefined);
  private readonly wake_ = (): void => this.client_0?.wake_();

  constructor() {
    this.stores_ = new Listeners((watched) => {
      this.changed_();
      this.observe_(watched);
    });
  }

  /** Circuits change on time while someone looks, and not only when the next call comes. */
  private observe_(watched: boolean): void {
    try {
      this.client_().observe_(watched || this.hears_);
    } catch {
      // Without a core there is nothing to look at; calls say why.
    }
  }

  /** The core, made on first use. */
  client_(): Client {
    if (this.over_) throw new DOMException("This client has been disposed", "InvalidStateError");
    return (this.client_0 ??= new (core())(new Host(this)));
  }

  dispose_(): void {
    if (this.over_) return;
    // First of all, so that no listener can begin another call.
    this.over_ = true;
    this.client_0?.cancelAll_(new DOMException("The client was disposed", "AbortError"));
    this.client_0?.observe_(false);
    this.listen_(false);
    this.dispatch_("disposed", undefined);
    this.heard_ = false;
  }

  // ------------------------------------------------------------ events

  listen_(on: boolean): void {
    for (const name of pageEvents) {
      if (on) globalThis.addEventListener?.(name, this.wake_);
      else globalThis.removeEventListener?.(name, this.wake_);
    }
  }

  addEventListener_(type: string, listener: (event: CustomEvent) => void, options?: AddEventListenerOptions): void {
    // As the DOM does with none. After dispose() there is nothing to hear.
    if (!listener || this.over_) return;
    let wrapped = this.wrapped_.get(listener);
    if (!wrapped) {
      const call: (event: CustomEvent) => void =
        typeof listener === "function" ? listener : (event) => (listener as EventListenerObject).handleEvent(event);
      wrapped = (event) => tell(call, event as CustomEvent);
      this.wrapped_.set(listener, wrapped);
    }
    this.heard_ = true;
    if (type === "circuit") {
      this.hears_ = true;
      this.observe_(true);
    }
    this.target_.addEventListener(type, wrapped, options);
  }

  removeEventListener_(type: string, listener: (event: CustomEvent) => void): void {
    this.target_.removeEventListener(type, (listener && this.wrapped_.get(listener)) ?? null);
  }

  dispatch_(type: string, detail: unknown): void {
    if (this.heard_) this.target_.dispatchEvent(new CustomEvent(type, { detail }));
  }

  stateChanged_(run: Run, from: CallStatus, state: CallState): void {
    if (!this.heard_) return;
    const detail: StateChange = Object.freeze({ id: run.id_, method: run.method_, url: run.url_, from, state });
    this.dispatch_("statechange", detail);
    if (state.status !== from) this.dispatch_(state.status, detail);
  }

  // ------------------------------------------------------------ stores

  /** Tells those who look, once per turn however much happens in it. */
  changed_(): void {
    this.circuits_.fresh_ = this.snapshot_.fresh_ = false;
    if (!this.told_ || !this.stores_.some_) return;
    this.told_ = false;
    queueMicrotask(() => {
      this.told_ = true;
      this.stores_.tell_();
    });
  }

  getCircuits_(): readonly CircuitState[] {
    return this.circuits_.get_(this.stores_.some_, (old) => {
      if (this.over_ || !this.client_0) return old;
      const now = this.client_0.circuits_() as CircuitState[];
      const before = new Map(old.map((circuit) => [circuit.key, circuit]));
      return kept(
        old,
        now.map((circuit) => kept(before.get(circuit.key), circuit)),
      );
    });
  }

  getSnapshot_(): ClientSnapshot {
    return this.snapshot_.get_(this.stores_.some_, (old) => {
      const online = globalThis.navigator?.onLine !== false;
      const idle = { loading: 0, waiting: 0, offline: 0, queued: 0, online, nextRetryAt: null };
      const counts = this.over_ || !this.client_0 ? idle : (this.client_0.snapshot_() as typeof idle);
      const open = this.getCircuits_().filter((circuit) => circuit.status !== "closed");
      return kept(old, { ...counts, openCircuits: kept(old?.openCircuits, open) });
    }) as ClientSnapshot;
  }
}
