// The entries of an outbox as a page sees them: their list, who looks at it, and the clock of their countdowns.
import type { OutboxSnapshot } from "../outbox.js";
import { Listeners, storeOf } from "../src/report.ts";
import type { OutboxError } from "./error.ts";
import type { Item } from "./item.ts";

type Standing = Pick<OutboxSnapshot, "paused" | "sender" | "durable">;

export class List {
  /** By id, in the order in which they were stored. */
  private readonly items_ = new Map<number, Item>();
  /** The highest id so far. */
  private last_ = 0;
  private readonly standing_: () => Standing;
  private readonly stores_ = new Listeners<void>(() => this.watched_());
  private snapshot_: OutboxSnapshot | undefined;
  private dirty_ = false;
  private over_ = false;
  private tick_: ReturnType<typeof setTimeout> | undefined;

  /** `standing` is how the outbox itself is, beside its entries. */
  constructor(standing: () => Standing) {
    this.standing_ = standing;
  }

  get size_(): number {
    return this.items_.size;
  }

  get_(id: number): Item | undefined {
    return this.items_.get(id);
  }

  all_(): Item[] {
    return [...this.items_.values()];
  }

  /** Ids grow, but for news that overtake each other. */
  insert_(item: Item): void {
    const { id } = item.record_;
    const late = id < this.last_ ? [...this.items_].filter(([other]) => other > id) : [];
    for (const [other] of late) this.items_.delete(other);
    for (const [each, one] of [[id, item] as const, ...late]) this.items_.set(each, one);
    this.last_ = Math.max(this.last_, id);
  }

  delete_(item: Item): void {
    this.items_.delete(item.record_.id);
  }

  pending_(): number {
    let count = 0;
    for (const item of this.items_.values()) if (item.pending_) count++;
    return count;
  }

  /** Many changes in one turn are told once. */
  changed_(): void {
    this.snapshot_ = undefined;
    if (this.dirty_ || !this.stores_.some_) return;
    this.dirty_ = true;
    queueMicrotask(() => {
      this.dirty_ = false;
      this.stores_.tell_();
      this.watched_();
    });
  }

  /** A countdown runs while somebody can see it. */
  watched_(): void {
    clearTimeout(this.tick_);
    this.tick_ = undefined;
    if (this.over_ || globalThis.document?.visibilityState === "hidden") return;
    const watched = this.all_().filter((item) => item.waits_ && (this.stores_.some_ || item.listeners_.some_));
    if (!watched.length) return;
    // When the first of them has a second less.
    const next = Math.min(...watched.map(({ until_: until }) => (until - Date.now()) % 1_000 || 1_000));
    if (watched.every(({ until_: until }) => until <= Date.now())) return;
    this.tick_ = setTimeout(
      () => {
        for (const item of watched) if (item.waits_) item.changed_();
        this.changed_();
        this.watched_();
      },
      Math.max(next, 50),
    );
    (this.tick_ as { unref?: () => void }).unref?.();
  }

  /** Nothing counts down any more, no signal is listened to, and no answer comes. */
  end_(fault: OutboxError): void {
    this.over_ = true;
    clearTimeout(this.tick_);
    for (const item of this.items_.values()) {
      item.release_?.();
      if (item.pending_) item.settle_(fault);
    }
  }

  private look_(): OutboxSnapshot {
    if (!this.snapshot_) {
      const all = this.all_();
      const entries = all.filter((item) => item.pending_).map((item) => item.snapshot);
      this.snapshot_ = Object.freeze({
        count: entries.length,
        entries: Object.freeze(entries),
        rejected: Object.freeze(all.filter((item) => !item.pending_).map((item) => item.snapshot)),
        ...this.standing_(),
      });
    }
    return this.snapshot_;
  }

  store_() {
    return storeOf(this.stores_, () => this.look_());
  }
}
