// The core of one family at work: it is told what happened, and what it commands is carried out. Nothing is decided
// here. All commands are carried out before the next thing happens; what a listener or a hook does meanwhile is told to
// the core at once, and its commands join the end of the queue.

import type { CircuitState, CircuitStatus } from "../index.js";
import {
  ABORT,
  ASK,
  AWAITS,
  BODY_READ,
  CANCEL,
  CANCELLED,
  CIRCUIT,
  CURRENT,
  DELAY,
  DISCARD,
  DROP_OUT,
  EXHAUSTED,
  FAILED,
  FAILURE,
  INVALID,
  LOADING,
  LOCK,
  LOCKED,
  NOT_A_RESPONSE,
  OFFLINE,
  PREPARED,
  QUEUED,
  READ_BODY,
  REFUSED,
  RETRY,
  RETRY_NOW,
  ROW,
  SEND,
  SHOULD_RETRY,
  SPENT,
  START,
  SUCCESS,
  TEXT,
  THREW,
  UNLOCK,
  WAITING,
  WATCH,
} from "./codes.ts";
import { type Core, core } from "./core.ts";
import { TimeoutError } from "./errors.ts";
import type { Family } from "./family.ts";
import { isShared, overlay, type Settings } from "./options.ts";
import { mono } from "./platform.ts";
import { bits, uuid } from "./random.ts";
import { giveUp } from "./response.ts";
import type { Run } from "./run.ts";
import { LONGEST_KEY, type News } from "./tabs.ts";

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

/** The headers that tell when to come back, as `Core.hint` takes them. */
const timing = ["Retry-After", "RateLimit-Reset", "X-RateLimit-Reset", "Date"];

/**
 * What survives of a key: its circuit's end in ms, doublings and reason, its budget in thousandths and its age in ms, until
 * when the server wants no call, and the status that said so.
 */
export type SavedKey = [
  key: string,
  open: number,
  doublings: number,
  reason: number,
  milli: number,
  age: number,
  parked: number,
  status: number,
];

/** A row, by its places: what is destructured like a list is read by an iterator, slowly. */
type Numbers = { readonly [Place in 0 | 1 | 2 | 3 | 4 | 5 | 6]: number };

/** A call under way, as the core does not have it. */
interface Live {
  readonly run_: Run;
  readonly settings_: Settings;
  /** The response at hand. */
  answer_: Response | undefined;
  /** The error of the last attempt, of a hook or of the request. */
  error_: unknown;
  /** Why the caller does not want it any more. */
  why_: unknown;
  givenUp_: boolean;
}

/** What the core has of some settings. */
interface Policy {
  readonly at_: number;
  readonly attempts_: number;
  /** Whether these methods may be sent again. */
  readonly listed_: Map<string, number>;
}

/** Policies in the core, for as long as somebody has their settings. */
const policies = new WeakMap<Settings, Policy>();
let collected: FinalizationRegistry<() => void> | undefined;

/** Lets go of what the core holds for `owner` once nobody has it. */
function whenGone(owner: object, free: () => void): void {
  collected ??= new FinalizationRegistry((free) => free());
  collected.register(owner, free, owner);
}

const encoder = new TextEncoder();
/** A key may begin with what a file would have as a byte order mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bit 0: not offline; bit 1: not hidden. */
function page(): number {
  const offline = globalThis.navigator?.onLine === false;
  const hidden = globalThis.document?.visibilityState === "hidden";
  return (offline ? 0 : 1) | (hidden ? 0 : 2);
}

/** A string of RFC 8941 3.3.3, which is printable ASCII. */
function quoted(key: string): string {
  if (/[^ -~]/.test(key)) throw new TypeError("steadfetch: an idempotency key in quotes must be printable ASCII");
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}

export class Driver {
  private core_: Core;
  private readonly family_: Family;
  /** Where the core has the family. */
  private readonly at_: number;
  private readonly lives_: (Live | undefined)[] = [];
  private draining_ = false;
  private over_ = false;
  /** How many frames of the stack go on with the core after what they call. */
  private held_ = 0;
  private numbers_ = new Float64Array();

  constructor(family: Family) {
    this.family_ = family;
    const there = (this.core_ = core());
    const [high, low] = bits(2) as unknown as [number, number];
    const at = (this.at_ = there.family(high, low, mono(), Date.now(), page()));
    whenGone(this, () => there.free(at));
  }

  // ------------------------------------------------------------ numbers and text

  /** Memory that grows is another buffer. */
  private view_(): Float64Array {
    const { buffer } = this.core_.memory;
    if (this.numbers_.buffer !== buffer) this.numbers_ = new Float64Array(buffer);
    return this.numbers_;
  }

  /** What the core tells, as it was. */
  private row_(place = 0): Float64Array {
    const from = this.core_.rows(this.at_) / 8 + place * ROW;
    return this.view_().slice(from, from + ROW);
  }

  private text_(row: Float64Array): string {
    return decoder.decode(new Uint8Array(this.core_.memory.buffer, row[TEXT], row[TEXT + 1]));
  }

  /** Writes numbers, then texts; gives the lengths of these in bytes, below zero for what is none. */
  private write_(texts: readonly (string | null | undefined)[], numbers: readonly number[] = []): number[] {
    const bytes = texts.map((text) => (text == null ? undefined : encoder.encode(text)));
    let at = numbers.length * 8;
    const room = this.core_.room(
      this.at_,
      bytes.reduce((sum, it) => sum + (it?.length ?? 0), at),
    );
    this.view_().set(numbers, room / 8);
    const all = new Uint8Array(this.core_.memory.buffer, room);
    for (const text of bytes) {
      if (!text) continue;
      all.set(text, at);
      at += text.length;
    }
    return bytes.map((text) => text?.length ?? -1);
  }

  private key_(key: string): number {
    return this.write_([key])[0] as number;
  }

  private policy_(settings: Settings): Policy {
    let policy = policies.get(settings);
    if (!policy) {
      const { core_: core } = this;
      const { numbers_: numbers, statuses_: statuses, methods_: methods } = settings;
      const [length] = this.write_([methods?.join("\n")], [...numbers, ...(statuses ?? [])]);
      const at = core.policy(this.at_, statuses?.length ?? -1, length as number);
      policies.set(settings, (policy = { at_: at, attempts_: core.attempts(at), listed_: new Map() }));
      whenGone(settings, () => core.release_policy(at));
    }
    return policy;
  }

  private listed_({ at_: at, listed_: known }: Policy, method: string): number {
    let listed = known.get(method);
    if (listed === undefined) known.set(method, (listed = this.core_.listed(this.at_, at, this.key_(method))));
    return listed;
  }

  /** Tells what time it is; where something is to happen, also what the page is like. */
  private now_(happens = true): void {
    this.core_.at(this.at_, mono(), Date.now(), happens ? page() : -1);
  }

  private look_(slot: number, seq: number, bit: number): boolean {
    return (this.core_.look(this.at_, slot, seq) & bit) > 0;
  }

  /** Someone who goes on with the core is through with it. */
  private let_(): void {
    this.held_--;
    this.free_();
  }

  private free_(): void {
    if (!this.over_ || this.held_) return;
    this.over_ = false;
    collected?.unregister(this);
    this.core_.free(this.at_);
    // Whoever comes all the same fails, and writes nowhere.
    this.core_ = undefined as never;
  }

  // ------------------------------------------------------------ what happens

  /** Begins a call, or a new run of one. Whatever is wrong with it ends it. */
  start_(settings: Settings, run: Run, number: number, options: object | undefined): void {
    this.held_++;
    try {
      this.begin_(settings, run, number, options);
    } finally {
      this.let_();
    }
  }

  private begin_(settings: Settings, run: Run, number: number, options: object | undefined): void {
    const { core_: core, at_: at } = this;
    let read = settings;
    let circuit = -1;
    let traits = 0;
    let input = START;
    let error: unknown;
    let why: unknown;
    /** What it means if something is thrown. */
    let thrown = INVALID;
    try {
      read = overlay(settings, options);
      // A call that joins in what its client takes no part in would hear nothing.
      if (isShared(read) && !isShared(settings)) {
        throw new TypeError("steadfetch: breaker.share is an option of createFetch() and extend()");
      }
      const opened = run.open_(read.keyHeader_);
      let { keyed_: keyed, aborted_: aborted } = opened;
      if (opened.spent_ && !aborted) {
        thrown = SPENT;
        throw new TypeError("steadfetch: the body of this call was a stream, and it is gone");
      }
      if (!aborted && !keyed && read.key_ !== undefined) {
        thrown = THREW;
        const { key_: make } = read;
        const made = typeof make === "function" ? make(run.request_ as Request) : make === "auto" ? uuid() : make;
        if (typeof made !== "string" || !made) {
          throw new TypeError("steadfetch: idempotencyKey must return a string that is not empty");
        }
        const key = read.keyQuoted_ ? quoted(made) : made;
        thrown = INVALID;
        aborted = run.key_(key);
        keyed = true;
      }
      const policy = this.policy_(read);
      if (aborted) input = CANCEL;
      else if (read.numbers_[16] !== 0 || read.numbers_[29] !== 0) {
        const { circuitKey_: make } = read;
        thrown = THREW;
        const key = make ? make(run.request_ as Request) : run.url_;
        if (make && (typeof key !== "string" || key.length > LONGEST_KEY)) {
          throw new TypeError("steadfetch: breaker.key must return a string of at most 2048 characters");
        }
        this.now_();
        // Of a URL the beginning tells the origin; one of data may be long.
        circuit = core.resolve(at, policy.at_, this.key_(key.slice(0, LONGEST_KEY)), !make);
      }
      traits = this.listed_(policy, run.method_) | (+keyed << 1) | (+opened.replayable_ << 2);
    } catch (caught) {
      input = thrown;
      error = caught;
    }
    const policy = this.policy_(read);
    const hooks = +!!read.shouldRetry_ | (+!!read.delay_ << 1) | (+!!read.beforeRetry_ << 2);
    const slot = core.insert(at, policy.at_, circuit, traits, hooks, number);
    const live: Live = { run_: run, settings_: read, answer_: undefined, error_: error, why_: why, givenUp_: false };
    this.lives_[slot] = live;
    // Hooks have run meanwhile, and any of them may have given the call up.
    if (run.begin_(slot, number, policy.attempts_, read.debug_, read.trace_)) input = CANCEL;
    if (input === CANCEL) live.why_ = run.reason_();
    this.handle_(slot, input);
  }

  /** Tells the core one thing and carries out what follows. True if it had an effect. */
  private handle_(slot: number, input: number, seq = 0, value = NaN): boolean {
    this.now_();
    const effect = this.core_.handle(this.at_, slot, input, seq, value);
    this.drain_();
    return !!effect;
  }

  retryNow_(slot: number): boolean {
    return this.handle_(slot, RETRY_NOW);
  }

  retry_(slot: number): boolean {
    return this.handle_(slot, RETRY);
  }

  watch_(slot: number, watched: boolean): void {
    this.handle_(slot, WATCH, 0, +watched);
  }

  /** Only if it waits for its circuit, where it is `queued`. */
  cancel_(slot: number, reason: unknown, queued: boolean): void {
    const live = this.lives_[slot];
    if (!live || (queued && !this.look_(slot, 0, QUEUED))) return;
    // The first reason counts, also while its end, or another one, is still in the queue.
    if (live.givenUp_) return;
    live.givenUp_ = true;
    live.why_ = reason;
    this.handle_(slot, queued ? DROP_OUT : CANCEL);
  }

  /** Whether that attempt is under way and has no outcome yet. */
  awaits_(slot: number, seq: number): boolean {
    return this.look_(slot, seq, AWAITS);
  }

  /** `fetch` settled: with a response of this status, or below zero with an error (-1) or with what is no response (-2). */
  settled_(slot: number, seq: number, status: number, value: unknown): void {
    const live = this.lives_[slot];
    if (!live || !this.awaits_(slot, seq)) {
      if (status >= 0) giveUp(value as Response);
      return;
    }
    live.answer_ = status < 0 ? undefined : (value as Response);
    if (status < 0) live.error_ = value;
    if (status === -2) this.handle_(slot, NOT_A_RESPONSE, seq);
    else this.outcome_(live, slot, seq, status);
  }

  /** When the server wants the next attempt: how long that is, and whether a rate limit says so. */
  private hint_(response: Response): Float64Array | undefined {
    let texts: (string | null)[];
    let aged: boolean;
    try {
      const { headers } = response;
      texts = timing.map((name) => headers.get(name));
      aged = headers.has("Age");
    } catch {
      // What a `fetch` of the page's gives may have none.
      return;
    }
    const [after, reset, xReset, date] = this.write_(texts) as [number, number, number, number];
    const told = this.core_.hint(this.at_, after, reset, xReset, date, aged, Date.now());
    return told ? this.row_() : undefined;
  }

  /** An attempt ended: by a status, or -1 by a failure, -2 by its limit. */
  private outcome_(live: Live, slot: number, seq: number, status: number): void {
    const { isFailure_: isFailure } = live.settings_;
    let failure = NaN;
    this.held_++;
    try {
      const hint = status < 400 ? undefined : this.hint_(live.answer_ as Response);
      if (isFailure) {
        const outcome = status < 0 ? { error: live.error_ } : { response: live.answer_ };
        const answer: unknown = isFailure(outcome as Parameters<typeof isFailure>[0]);
        if (typeof answer === "boolean") failure = +answer;
      }
      this.now_();
      this.core_.outcome(this.at_, slot, seq, status, failure, hint?.[0] ?? NaN, !!hint?.[1]);
      this.drain_();
    } catch (error) {
      this.threw_(live, slot, error);
    } finally {
      this.let_();
    }
  }

  private threw_(live: Live, slot: number, error: unknown): void {
    // The hook may have given the call up, and begun another in its place.
    if (this.lives_[slot] !== live) return;
    live.error_ = error;
    this.handle_(slot, THREW);
  }

  /** The attempt could not be made: a body factory threw, or what it gave is no body. */
  unsent_(slot: number, seq: number, threw: boolean, error: unknown): void {
    const live = this.lives_[slot];
    if (!live || !this.awaits_(slot, seq)) return;
    live.error_ = error;
    this.handle_(slot, threw ? THREW : NOT_A_RESPONSE, seq);
  }

  /** A hook answered, or threw: 0 shouldRetry, 1 delay, 2 beforeRetry. */
  answered_(slot: number, seq: number, question: number, threw: boolean, answer: unknown): void {
    const live = this.lives_[slot];
    if (!live || !this.look_(slot, seq, CURRENT)) return;
    this.held_++;
    try {
      if (threw) throw answer;
      if (question === 0) {
        this.handle_(slot, SHOULD_RETRY, seq, typeof answer === "boolean" ? +answer : NaN);
      } else if (question === 1) {
        if (answer !== undefined && !Number.isFinite(answer)) {
          throw new TypeError("steadfetch: retry.delay must return a finite number of milliseconds");
        }
        this.handle_(slot, DELAY, seq, (answer as number | undefined) ?? NaN);
      } else {
        if (typeof answer === "object" && answer) live.run_.replace_(answer as Request);
        // Its signal may have given the call up, and another may have its place.
        if (this.look_(slot, seq, CURRENT)) this.handle_(slot, PREPARED);
      }
    } catch (error) {
      this.threw_(live, slot, error);
    } finally {
      this.let_();
    }
  }

  /** The body is here, and with it a response that equals the one it came with. */
  bodyRead_(slot: number, seq: number, equal: Response): void {
    const live = this.lives_[slot];
    if (!live || !this.awaits_(slot, seq)) return;
    live.answer_ = equal;
    this.handle_(slot, BODY_READ, seq);
  }

  /** Whether the attempt, with a body of so many bytes, is sent with `keepalive`. */
  keepAlive_(slot: number, seq: number, bytes: number): boolean {
    return !!this.core_.keep_alive(this.at_, slot, seq, bytes);
  }

  /** What came of asking for the lock: 0 granted, 1 there are no locks, 2 taken. False if it is not wanted any more. */
  locked_(slot: number, seq: number, lock: number): boolean {
    return this.handle_(slot, LOCKED, seq, lock);
  }

  /** The timer is due. */
  rang_(): void {
    this.core_.rang(this.at_);
    this.wake_();
  }

  /** Network, visibility, a page that comes back, or time that passed unseen. */
  wake_(): void {
    this.now_();
    this.held_++;
    let more = true;
    while (more) {
      more = !!this.core_.wake(this.at_);
      this.drain_();
    }
    this.let_();
  }

  /** Whether someone looks at the circuits or the client. */
  observe_(observed: boolean): void {
    this.now_();
    this.core_.observe(this.at_, observed);
    this.drain_();
  }

  /** Another tab told; kind 0 asks for everything. */
  hear_(settings: Settings, ...[kind, tab, key, a, b, c, d]: News): void {
    this.now_();
    const { at_: policy } = this.policy_(settings);
    this.core_.hear(this.at_, policy, this.key_(key), kind, tab, a, b, c, d);
    this.drain_();
  }

  /** Takes up what was kept. */
  restore_(settings: Settings, ...[key, ...numbers]: SavedKey): void {
    this.now_();
    const { at_: policy } = this.policy_(settings);
    this.core_.restore(this.at_, policy, this.key_(key), ...numbers);
  }

  /** Holds the circuit of `key` open by hand; gives its place. */
  isolate_(settings: Settings, key: string): number {
    if (key.length > LONGEST_KEY) {
      throw new TypeError("steadfetch: circuits.isolate() takes a key of at most 2048 characters");
    }
    this.now_();
    const { at_: policy } = this.policy_(settings);
    const place = this.core_.isolate(this.at_, policy, this.key_(key));
    this.drain_();
    if (place < 0) throw new RangeError("steadfetch: circuits.isolate() holds at most 1000 circuits at once");
    return place;
  }

  letGo_(place: number): void {
    this.now_();
    this.core_.let_go(this.at_, place);
    this.drain_();
  }

  /** Closes the circuit of `key`, or all. */
  reset_(key: string | undefined): void {
    this.now_();
    const [length] = this.write_([key]);
    this.core_.reset(this.at_, length as number);
    this.drain_();
  }

  /** Cancels every pending call, and lets go of all that the core holds once nobody uses it any more. */
  dispose_(reason: unknown): void {
    for (const queued of [true, false]) {
      for (let slot = 0; slot < this.lives_.length; slot++) this.cancel_(slot, reason, queued);
    }
    this.observe_(false);
    this.over_ = true;
    this.free_();
  }

  // ------------------------------------------------------------ what is told

  circuits_(): CircuitState[] {
    this.now_(false);
    const count = this.core_.circuits(this.at_);
    return Array.from({ length: count }, (_, place) => this.circuit_(this.row_(place)));
  }

  kept_(): SavedKey[] {
    this.now_(false);
    const count = this.core_.kept(this.at_);
    return Array.from({ length: count }, (_, place) => {
      const row = this.row_(place);
      return [this.text_(row), ...row.subarray(0, 7)] as unknown as SavedKey;
    });
  }

  snapshot_() {
    // Looking changes nothing.
    this.now_(false);
    this.core_.snapshot(this.at_);
    const [loading, waiting, offline, queued, retryAt] = this.row_() as unknown as number[];
    const online = !!(page() & 1);
    return { loading, waiting, offline, queued, online, nextRetryAt: retryAt === Infinity ? null : retryAt };
  }

  private circuit_(row: Float64Array): CircuitState {
    const [status, until, remaining, consecutiveFailures, failureRate, calls, reason] = row as unknown as number[];
    return {
      key: this.text_(row),
      status: circuitStatuses[status as number],
      openUntil: until === Infinity ? null : until,
      ...{ remaining, consecutiveFailures, failureRate, calls },
      ...(reason && { reason: circuitReasons[reason] }),
    } as CircuitState;
  }

  // ------------------------------------------------------------ commands

  /** Carries out all commands, unless that is under way already further up the stack. */
  private drain_(): void {
    if (this.draining_) return;
    this.draining_ = true;
    this.held_++;
    const { core_: core, at_: at, family_: family } = this;
    try {
      for (let kind = core.next(at); kind; kind = core.next(at)) this.carry_(kind);
      const { 0: ms, 1: busy, 2: listen, 3: changed } = this.row_() as unknown as Numbers;
      if (!Number.isNaN(ms)) family.arm_(ms, !!busy);
      if (!Number.isNaN(listen)) family.listen_(listen);
      if (changed) family.changed_();
    } finally {
      // Nothing of it should throw, but a client that hears nothing any more would be worse.
      this.draining_ = false;
      this.let_();
    }
  }

  private carry_(kind: number): void {
    const row = this.row_();
    const { family_: family } = this;
    const { 0: slot, 1: a, 2: b, 3: c, 4: d, 5: e, 6: f } = row as unknown as Numbers;
    if (kind >= CIRCUIT) {
      if (kind > CIRCUIT) family.tabs_?.tell_(slot, a, this.text_(row), b, c, d, e);
      else family.dispatch_("circuit", Object.freeze(this.circuit_(row)));
      return;
    }
    const live = this.lives_[slot];
    if (!live) return;
    const { run_: run, settings_: settings } = live;
    const isOver =
      kind === REFUSED ? e : kind === EXHAUSTED ? !e : kind === SUCCESS || kind === FAILED || kind === CANCELLED;
    let is = kind;
    if (isOver) {
      this.lives_[slot] = undefined;
      if (live.givenUp_ && is !== CANCELLED) {
        // A listener gave it up before anyone was told of another end.
        giveUp(live.answer_);
        is = CANCELLED;
      }
    }
    switch (is) {
      case SEND:
        live.answer_ = live.error_ = undefined;
        run.send_(a, !!b, settings.fetch_);
        break;
      case ABORT: {
        const reason = b ? new TimeoutError(b > 1 ? "total" : "attempt", c) : live.why_;
        run.abort_(reason);
        if (b) live.error_ = reason;
        // Whoever heard of it may have given the call up.
        if (b === 1 && this.look_(slot, a, CURRENT)) this.outcome_(live, slot, a, -2);
        break;
      }
      case READ_BODY:
        run.read_(a, live.answer_ as Response);
        break;
      case DISCARD:
        giveUp(live.answer_);
        // `beforeRetry` may still look at its status and headers.
        if (!settings.beforeRetry_) live.answer_ = undefined;
        break;
      case ASK: {
        const hook = [settings.shouldRetry_, settings.delay_, settings.beforeRetry_][b];
        if (hook) run.ask_(a, b, hook, c, d, live.answer_, live.error_);
        break;
      }
      case FAILURE:
        run.failure_(a, b, live.error_, Date.now(), c);
        break;
      case LOADING:
        run.loading_(a, !!b);
        break;
      case WAITING:
        run.waiting_(a, b, c, d, e, f);
        break;
      case OFFLINE:
        run.offline_(a, b);
        break;
      case REFUSED:
        run.refused_(a, this.text_(row), b, c, !!d, !!e);
        break;
      case EXHAUSTED:
        run.exhausted_(a, b, d, !!e, ...this.carried_(live, c, row));
        break;
      case SUCCESS:
        run.success_(a, live.answer_ as Response);
        break;
      case FAILED:
        run.failed_(a, b, ...this.carried_(live, c, row));
        break;
      case CANCELLED:
        run.cancelled_(a, live.why_);
        break;
      case LOCK:
        run.lock_(a, this.text_(row));
        break;
      case UNLOCK:
        run.unlock_(a);
    }
  }

  /** What a promise settles with, for the numbers of src/web/told.rs: how, and the value. */
  private carried_(live: Live, carry: number, row: Float64Array): [how: number, value: unknown] {
    if (carry === 4) return [carry, this.text_(row)];
    if (carry === 5) return [1, new TimeoutError("total", live.settings_.numbers_[9] as number)];
    if (carry === 1 || carry > 5) return [1, carry === 1 ? live.error_ : live.why_];
    return [carry, live.answer_];
  }
}
