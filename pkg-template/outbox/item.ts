// One entry, as this page shows it.
import type { Entry, EntryFailure, EntrySnapshot, EntryState, OutboxRecord, StoredAnswer } from "../outbox.js";
import { Listeners, tell } from "../src/report.ts";
import { OutboxError } from "./error.ts";
import { answerOf } from "./record.ts";

/** By the numbers of the core's views and changes. */
const views = ["queued", "sending", "waiting", "offline", "rejected"] as const;
const causes = ["backoff", "retry-after", "circuit-open", "storage"] as const;
const ends = ["delivered", "expired", "cancelled"] as const;

/** In the place of a status that there is none of. */
const UNANSWERED = 1;

/** What an item needs of its outbox. */
export interface Owner {
  retryNow_(item: Item): boolean;
  cancel_(item: Item): boolean;
  /** Someone looks, or nobody does any more. */
  watched_(): void;
}

export class Item {
  readonly owner_: Owner;
  record_: OutboxRecord;
  /** Where the core has it. */
  slot_ = -1;
  attempts_: number;
  view_: number;
  until_ = Infinity;
  private cause_ = 0;
  /** What became of the last attempt. */
  failure_: EntryFailure | undefined;
  private since_ = Date.now();
  private end_: (typeof ends)[number] | undefined;
  /** For whoever asks. */
  answer_: Response | undefined;
  /** What the round under way was answered, and what is kept of it. */
  given_: Response | undefined;
  kept_: Promise<StoredAnswer> | undefined;
  private state_: EntryState | undefined;
  private snapshot_: EntrySnapshot | undefined;
  readonly listeners_: Listeners<EntryState>;
  private promise_: { resolve_: (response: Response) => void; reject_: (error: unknown) => void } | undefined;
  private response_: Promise<Response> | undefined;
  private fault_: OutboxError | undefined;
  /** How it looks was said by another tab. */
  heard_ = false;
  /** Lets go of the caller's signal. */
  release_: (() => void) | undefined;

  constructor(owner: Owner, record: OutboxRecord) {
    this.owner_ = owner;
    this.record_ = record;
    this.attempts_ = record.attempts;
    this.view_ = record.dead ? 4 : 0;
    if (record.dead) this.answer_ = answerOf(record.answer);
    this.listeners_ = new Listeners(() => owner.watched_());
  }

  get state(): EntryState {
    return (this.state_ ??= this.make_());
  }

  /** Whether the page wants the answer itself; else a copy of its beginning serves those who come later. */
  get asked_(): boolean {
    return !!this.response_;
  }

  get pending_(): boolean {
    return !this.end_ && this.view_ !== 4;
  }

  /** What other tabs are told: the last number is the status of the last failure, 0 where there was none. */
  get said_() {
    const { failure_: failure } = this;
    return [
      this.view_,
      this.until_,
      this.cause_,
      this.attempts_,
      failure ? (failure.status ?? UNANSWERED) : 0,
    ] as const;
  }

  /** Something holds it up that a click may end. */
  get held_(): boolean {
    return this.view_ === 2 || this.view_ === 3;
  }

  get waits_(): boolean {
    return !this.end_ && this.view_ === 2 && this.until_ < Infinity;
  }

  private make_(): EntryState {
    const base = { attempts: this.attempts_, since: this.since_ };
    const answered = this.answer_ && { response: this.answer_ };
    const status = this.end_ ?? views[this.view_];
    if (status === "delivered" || status === "rejected") return Object.freeze({ status, ...base, ...answered });
    if (status !== "waiting") return Object.freeze({ status, ...base }) as EntryState;
    const known = this.until_ < Infinity;
    return Object.freeze({
      status,
      ...base,
      retryAt: known ? this.until_ : null,
      remaining: known ? Math.max(0, this.until_ - Date.now()) : 0,
      cause: causes[this.cause_] as "backoff",
      ...(this.failure_ && { failure: this.failure_ }),
    });
  }

  /** What another tab said of it. */
  hear_(view: number, until: number, cause: number, attempts: number, failure: number): void {
    this.failure_ = failure ? { status: failure === UNANSWERED ? null : failure } : undefined;
    this.looks_(view, until, cause, attempts);
    this.heard_ = true;
  }

  /** It looks like that now. */
  looks_(view: number, until: number, cause: number, attempts = this.attempts_): void {
    if (view !== this.view_) this.since_ = Date.now();
    // The answer to an earlier round is none.
    if (view !== 4 && this.view_ === 4) this.answer_ = undefined;
    this.view_ = view;
    this.until_ = until;
    this.cause_ = cause;
    this.attempts_ = attempts;
    this.heard_ = false;
    this.changed_();
    if (view === 4) this.resolve_();
  }

  /** Ends the promise before the entry is over: with the answer, or with why there will be none here. */
  settle_(fault?: OutboxError): void {
    this.fault_ = fault;
    if (fault) this.promise_?.reject_(fault);
    else if (this.answer_) this.promise_?.resolve_(this.answer_);
  }

  over_(change: number): void {
    this.end_ = ends[change] ?? "delivered";
    this.since_ = Date.now();
    this.release_?.();
    this.changed_();
    this.resolve_();
  }

  changed_(): void {
    this.state_ = undefined;
    this.snapshot_ = undefined;
    if (this.listeners_.some_) this.listeners_.tell_(this.state);
  }

  /** The promise settles once there is nothing more to come. */
  private resolve_(): void {
    if (this.fault_ || (!this.pending_ && this.answer_)) this.settle_(this.fault_);
    else if (!this.pending_) this.promise_?.reject_(this.why_());
  }

  private why_(): OutboxError {
    const said = {
      delivered: ["answer-lost", "another tab has delivered this entry, and kept no answer"],
      rejected: ["not-storable", "no request could be made of this entry"],
      expired: ["expired", "this entry is older than maxAge"],
      cancelled: ["cancelled", "this entry was cancelled"],
    } as const;
    const [code, text] = said[this.end_ ?? "rejected"];
    return new OutboxError(code, text);
  }

  get response(): Promise<Response> {
    if (!this.response_) {
      this.response_ = new Promise((resolve, reject) => {
        this.promise_ = { resolve_: resolve, reject_: reject };
      });
      this.response_.catch(() => {});
      this.resolve_();
    }
    return this.response_;
  }

  get snapshot(): EntrySnapshot {
    return (this.snapshot_ ??= Object.freeze({
      ...this.base_(),
      age: Math.max(0, Date.now() - this.record_.createdAt),
      state: this.state,
      ...this.acts_,
    }));
  }

  private base_() {
    const { id, key, method, url, queue, createdAt, size, meta } = this.record_;
    return { id, key, method, url, queue, createdAt, size, meta };
  }

  /** The same functions in every snapshot, so that a list need not render anew for them. */
  private readonly acts_ = {
    retryNow: (): boolean => this.owner_.retryNow_(this),
    cancel: (): boolean => this.owner_.cancel_(this),
  };

  private entry_: Entry | undefined;

  /** As the page holds it. */
  get entry(): Entry {
    if (this.entry_) return this.entry_;
    const item = this;
    return (this.entry_ = {
      ...this.base_(),
      /** Vue leaves it as it is. */
      ...{ __v_skip: true },
      get state() {
        return item.state;
      },
      get response() {
        return item.response;
      },
      getSnapshot: () => item.state,
      subscribe(listener) {
        const off = item.listeners_.add_(listener);
        tell(listener, item.state);
        return off;
      },
      ...this.acts_,
    });
  }
}
