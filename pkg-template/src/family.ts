// What createFetch() makes, with all that extend() makes of it: one core, its events and its stores.
import type { CallState, CallStatus, CircuitState, ClientSnapshot, StateChange } from "../index.js";
import { callOf } from "./call.ts";
import { Driver } from "./driver.ts";
import type { Settings } from "./options.ts";
import { Listeners, tell } from "./report.ts";
import type { Run } from "./run.ts";
import { cancelAll } from "./signals.ts";
import { Tabs } from "./tabs.ts";

/** What tells that the page ends, or that network or visibility changed; the last two bubble up from the document. */
const pageEvents = [
  ["pagehide", "pageshow"],
  ["online", "offline", "visibilitychange", "resume"],
];

/** The old value where the new one says the same, so that stores keep their identity. */
function kept<T extends object>(old: T | undefined, now: T): T {
  const keys = Object.keys(now) as (keyof T)[];
  return old && Object.keys(old).length === keys.length && keys.every((key) => Object.is(old[key], now[key]))
    ? old
    : Object.freeze(now);
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
  /** Calls under way. */
  readonly live_ = new Set<Run>();
  /** Someone has added an event listener. */
  heard_ = false;
  /** Those for circuits. */
  private readonly hears_ = new Set<unknown>();
  readonly stores_: Listeners<void>;
  private readonly target_ = new EventTarget();
  private readonly wrapped_ = new WeakMap<object, (event: Event) => void>();
  core_: Driver | undefined;
  tabs_: Tabs | undefined;
  over_ = false;
  /** What is to be restored once there is a core. */
  saved_: string | undefined;
  private degraded_ = false;
  private told_ = true;
  private circuits_ = new Kept<readonly CircuitState[]>(Object.freeze([]));
  private snapshot_ = new Kept<ClientSnapshot | undefined>(undefined);
  private timer_: ReturnType<typeof setTimeout> | undefined;
  /** Failures that came while the page was about to end; undefined while it is not. */
  private late_: (() => void)[] | undefined;
  private listening_ = 0;

  private readonly page_ = (event: Event): void => {
    if (event.type === "pagehide") {
      if (!(event as PageTransitionEvent).persisted) this.late_ ??= [];
    } else {
      const late = this.late_;
      this.late_ = undefined;
      for (const tell of late ?? []) tell();
      this.core_?.wake_();
    }
  };

  constructor() {
    this.stores_ = new Listeners((watched) => {
      this.changed_();
      this.observe_(watched);
    });
  }

  /** Circuits change on time while someone looks, and not only when the next call comes. */
  private observe_(watched: boolean): void {
    try {
      this.client_().observe_(watched || this.hears_.size > 0);
    } catch {
      // Without a core there is nothing to look at; calls say why.
    }
  }

  /** The core, made on first use. */
  client_(): Driver {
    if (this.over_) throw new DOMException("This client has been disposed", "InvalidStateError");
    if (!this.core_) {
      this.core_ = new Driver(this);
      // Someone may have come while it could not be had.
      if (this.stores_.some_ || this.hears_.size) this.core_.observe_(true);
      if (this.degraded_) this.changed_();
      this.degraded_ = false;
    }
    return this.core_;
  }

  /** A call goes through without a core. */
  degrade_(): void {
    this.degraded_ = true;
    this.changed_();
  }

  /** Shares circuits with the other tabs from now on. */
  join_(settings: () => Settings): void {
    this.tabs_ ??= new Tabs((...news) => this.core_?.hear_(settings(), ...news));
  }

  dispose_(): void {
    if (this.over_) return;
    // First of all, so that no listener can begin another call.
    this.over_ = true;
    const reason = new DOMException("The client was disposed", "AbortError");
    this.core_?.dispose_(reason);
    this.core_ = undefined;
    // Those that the core does not have.
    cancelAll([...this.live_], reason);
    this.tabs_?.close_();
    this.degraded_ = false;
    this.dispatch_("disposed", undefined);
    this.heard_ = false;
    this.changed_();
  }

  // ------------------------------------------------------------ events

  /** Bit 0: that the page ends; bit 1: network and visibility. */
  listen_(what: number): void {
    const changed = what ^ this.listening_;
    this.listening_ = what;
    pageEvents.forEach((names, bit) => {
      if (!(changed & (1 << bit))) return;
      for (const name of names) {
        if (what & (1 << bit)) globalThis.addEventListener?.(name, this.page_);
        else globalThis.removeEventListener?.(name, this.page_);
      }
    });
    if (!what) this.late_ = undefined;
  }

  /** Tells of a failure, but not while the page ends: that is what fails then. */
  failed_(tell: () => void): void {
    if (this.late_) this.late_.push(tell);
    else tell();
  }

  /** Sets the one timer; below zero there is none. */
  arm_(ms: number, busy: boolean): void {
    clearTimeout(this.timer_);
    if (ms < 0) {
      this.timer_ = undefined;
      return;
    }
    // One that is delivered although it was cleared finds another in its place.
    const timer = setTimeout(() => {
      if (this.timer_ === timer) this.core_?.rang_();
    }, ms);
    this.timer_ = timer;
    if (!busy) (timer as { unref?: () => void }).unref?.();
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
      this.hears_.add(wrapped);
      this.observe_(true);
    }
    this.target_.addEventListener(type, wrapped, options);
  }

  removeEventListener_(type: string, listener: (event: CustomEvent) => void): void {
    const wrapped = listener && this.wrapped_.get(listener);
    if (!wrapped) return;
    this.target_.removeEventListener(type, wrapped);
    if (type === "circuit" && this.hears_.delete(wrapped)) this.observe_(this.stores_.some_);
  }

  dispatch_(type: string, detail: unknown): void {
    if (this.heard_) this.target_.dispatchEvent(new CustomEvent(type, { detail }));
  }

  stateChanged_(run: Run, from: CallStatus, state: CallState): void {
    if (!this.heard_) return;
    const { id_: id, method_: method, url_: url } = run;
    const detail: StateChange = Object.freeze({
      ...{ id, method, url, from, state },
      get call() {
        return callOf(run);
      },
    });
    this.dispatch_("statechange", detail);
    if (state.status !== from) this.dispatch_(state.status, detail);
    if (state.status === "exhausted" && state.reason === "budget") this.dispatch_("budget-exhausted", detail);
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
      if (this.over_ || !this.core_) return kept(old, []);
      const now = this.core_.circuits_();
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
      // Those that wait for a core load, too, as far as a page is concerned.
      const loading = this.live_.size;
      const idle = { loading, waiting: 0, offline: 0, queued: 0, online, nextRetryAt: null };
      const without = this.degraded_ ? ({ ...idle, degraded: true } as const) : idle;
      const counts = this.over_ || !this.core_ ? without : (this.core_.snapshot_() as typeof idle);
      const open = this.getCircuits_().filter((circuit) => circuit.status !== "closed");
      return kept(old, { ...counts, openCircuits: kept(old?.openCircuits, open) });
    }) as ClientSnapshot;
  }
}
