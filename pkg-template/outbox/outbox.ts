// An outbox at work: the core is told what happened, and what it commands is carried out. Nothing is decided here.

import type { Call, CallState, SteadFetch } from "../index.js";
import type {
  Entry,
  Outbox,
  OutboxEvents,
  OutboxInit,
  OutboxOptions,
  OutboxRecord,
  OutboxSnapshot,
  OutboxStorage,
  StoredAnswer,
} from "../outbox.js";
import { mono } from "../src/platform.ts";
import { bits, uuid } from "../src/random.ts";
import { Listeners, tell } from "../src/report.ts";
import { giveUp } from "../src/response.ts";
import { Channel, type News } from "./channel.ts";
import { type OutboxCore, whenThere } from "./core.ts";
import { wasDelivered } from "./delivered.ts";
import { OutboxError, storageError } from "./error.ts";
import { Item } from "./item.ts";
import { memoryStorage } from "./memory.ts";
import { read, type Settings } from "./options.ts";
import { point } from "./point.ts";
import { answerOf, bodyOf, draft, faultOf, initOf, isNewer, keep, keyedBy } from "./record.ts";
import { Sender } from "./sender.ts";
import { syncTag } from "./sync.ts";

/** Commands, as src/web/outbox.rs numbers them. */
const LOOK = 1;
const SEND = 2;
const ABORT = 3;
const NUDGE = 4;
const WRITE = 5;
const NOTE = 6;
const TELL = 7;
const OVER = 8;
/** What the store has at the head. */
const FOUND = 0;
const ANOTHER = 1;
const GONE_DELIVERED = 2;
const GONE = 3;
const BARRED = 4;
const FAILED = 5;
/** Changes. */
const DELIVER = 0;
const EXPIRE = 1;
const CANCEL = 2;
const REJECT = 3;
const REVIVE = 4;
/** Views. */
const WAITING = 2;
const REJECTED = 4;
/** Outcomes that are no status. */
const UNANSWERED = -1;
const INVALID = -2;

/** What the core sends again is repeated by the client, which knows when the server wants it. */
const AGAIN = [408, 409, 425, 429, "5xx"] as const;
/** The wait of a call for a circuit, of which the others are told by their source. */
const CIRCUIT = 4;
/** A note in the store. */
const PAUSED = "paused";
/** So many news are kept of what is not there yet. */
const EARLY = 1_000;
/** How long a flush waits for the answer of the tab that sends, and an attempt for `prepare`. */
const PATIENCE = 30_000;

/** What is under way of an entry. */
interface Doing {
  readonly token_: number;
  call_?: Call;
  /** Nobody waits for it any more. */
  off_?: boolean;
  /** What the core was told last of its call. */
  said_?: string;
  readonly body_: BodyInit | null;
  /** Attempts before this round. */
  readonly before_: number;
}

const NONE: readonly never[] = Object.freeze([]);
const EMPTY: OutboxSnapshot = Object.freeze({
  count: 0,
  entries: NONE,
  rejected: NONE,
  paused: false,
  sender: false,
  durable: false,
});

/** What does not end holds up no queue for ever. */
async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("steadfetch: prepare() took too long")), PATIENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Those that share a store that is not on the disk, by what they have in common. */
const shared = new WeakMap<OutboxStorage, string>();

function idOf(storage: OutboxStorage): string {
  let id = shared.get(storage);
  if (!id) shared.set(storage, (id = uuid()));
  return id;
}

const encoder = new TextEncoder();

class Box {
  private readonly client_: SteadFetch;
  private readonly settings_: Settings;
  private storage_: OutboxStorage;
  private core_: OutboxCore | undefined;
  private at_ = 0;
  private numbers_ = new Float64Array();
  /** By id, in the order in which they were stored. */
  private readonly items_ = new Map<number, Item>();
  private readonly slots_: (Item | undefined)[] = [];
  private readonly doings_ = new Map<number, Doing>();
  private readonly opened_: Promise<void>;
  private failure_: OutboxError | undefined;
  private ready_ = false;
  private over_ = false;
  private away_ = false;
  private paused_ = false;
  /** Whether this tab may send, and whether the core knows. */
  private is_ = false;
  private sends_ = false;
  /** What was out when the page went. */
  private readonly left_: Call[] = [];
  /** How many times something is being read or added, and what was said meanwhile of what is not there yet. */
  private coming_ = 0;
  private early_: News[] = [];
  /** Ids that are being written. */
  private readonly writing_ = new Set<number>();
  private last_ = 0;
  private draining_ = false;
  private chain_: Promise<unknown> = Promise.resolve();
  private timer_: ReturnType<typeof setTimeout> | undefined;
  private tick_: ReturnType<typeof setTimeout> | undefined;
  private synced_ = false;
  private registration_: { sync?: { register(tag: string): Promise<void> } } | undefined;
  private warned_ = false;
  private snapshot_: OutboxSnapshot | undefined;
  private dirty_ = false;
  private readonly stores_: Listeners<void>;
  private readonly events_ = new EventTarget();
  private sender_: Sender | undefined;
  private channel_: Channel | undefined;
  private flushes_: ((pending: number) => void)[] = [];

  constructor(client: SteadFetch, options: OutboxOptions | undefined) {
    if (typeof client?.start !== "function")
      throw new TypeError("steadfetch: an outbox needs a client of createFetch()");
    this.client_ = client;
    this.settings_ = read(options);
    this.storage_ = this.settings_.storage_;
    this.stores_ = new Listeners(() => this.watched_());
    this.opened_ = this.open_();
    // Whoever sends is told.
    this.opened_.catch(() => {});
  }

  // ------------------------------------------------------------ beginning and end

  private async open_(): Promise<void> {
    try {
      const { maxAge_: age, maxEntries_: entries, maxBytes_: bytes, stop_: stop } = this.settings_;
      const core = await whenThere();
      const [high, low] = bits(2) as unknown as [number, number];
      this.core_ = core;
      this.at_ = core.outbox(high, low, mono(), Date.now(), age, entries, bytes, stop);
      this.listen_();
      await this.load_();
    } catch (error) {
      this.fail_(storageError(error));
      throw this.failure_;
    }
    if (this.over_) return;
    this.ready_ = true;
    this.join_();
    for (const type of ["pagehide", "pageshow"]) globalThis.addEventListener?.(type, this.page_);
    for (const type of ["freeze", "resume", "visibilitychange"])
      globalThis.document?.addEventListener(type, this.page_);
    this.changed_();
  }

  /** Reads what is stored; in memory, where the browser refuses and the page wants that. */
  private async load_(): Promise<void> {
    try {
      await this.sync_();
    } catch (error) {
      const failure = storageError(error);
      if (!this.settings_.volatile_ || failure.code !== "storage-denied") throw failure;
      this.storage_ = memoryStorage();
      this.listen_();
      this.fire_("storage-error", failure);
      await this.sync_();
    }
  }

  private fail_(error: OutboxError): void {
    this.failure_ = error;
    this.channel_?.close_();
    this.fire_("storage-error", error);
  }

  /** By what those are known that share its entries. */
  private get ours_(): string {
    const { storage_: storage } = this;
    const { name_: name } = this.settings_;
    return storage.durable ? name : `${name} ${idOf(storage)}`;
  }

  /** Before anything is read: what others add meanwhile is not missed. */
  private listen_(): void {
    this.channel_?.close_();
    this.channel_ = new Channel(this.ours_, (news) => this.hear_(news));
  }

  private join_(): void {
    const { storage_: storage } = this;
    if (this.away_) this.listen_();
    this.away_ = false;
    for (const call of this.left_.splice(0)) call.cancel();
    this.channel_?.tell_("hello");
    this.sender_ ??= new Sender(
      this.ours_,
      !storage.durable,
      (note, change) => storage.note(note, change),
      (whose, until) => (this.core_ as OutboxCore).outbox_lease(whose, until, Date.now()),
      (is) => this.setSender_(is),
    );
    this.sender_.start_();
  }

  /** What is out stays out, and may still arrive. */
  private async leave_(): Promise<void> {
    this.away_ = true;
    this.channel_?.close_();
    point("leaving");
    await this.sender_?.stop_();
    point("left");
  }

  /** A page that may be kept, or frozen, must not hold up the others. */
  private readonly page_ = ({ type }: Event): void => {
    if (type === "visibilitychange") {
      this.watched_();
      // It may never be seen again; what was asked for before may be used up.
      if (document.visibilityState === "hidden" && this.pending_()) this.register_();
    } else if (type === "pagehide" || type === "freeze") {
      if (!this.away_) this.leave_();
    } else if (this.away_) {
      this.join_();
      this.sync_().catch(() => {});
    }
  };

  dispose_(): void {
    if (this.over_) return;
    this.over_ = true;
    this.failure_ = new OutboxError("disposed", "this outbox was disposed of");
    for (const { call_: call } of this.doings_.values()) call?.cancel();
    this.doings_.clear();
    const left = this.leave_();
    for (const type of ["pagehide", "pageshow"]) globalThis.removeEventListener?.(type, this.page_);
    for (const type of ["freeze", "resume", "visibilitychange"]) {
      globalThis.document?.removeEventListener(type, this.page_);
    }
    clearTimeout(this.timer_);
    clearTimeout(this.tick_);
    for (const item of this.items_.values()) item.release_?.();
    Promise.allSettled([this.opened_, this.chain_, left]).then(() => this.storage_.close());
    for (const done of this.flushes_.splice(0)) done(this.pending_());
  }

  // ------------------------------------------------------------ the core

  private now_(): OutboxCore {
    const core = this.core_ as OutboxCore;
    core.outbox_at(this.at_, mono(), Date.now());
    return core;
  }

  private view_(): Float64Array {
    const { buffer } = (this.core_ as OutboxCore).memory;
    if (this.numbers_.buffer !== buffer) this.numbers_ = new Float64Array(buffer);
    return this.numbers_;
  }

  /** Tells the core one thing and carries out what follows. */
  private tell_<T>(what: (core: OutboxCore, at: number) => T): T {
    const told = what(this.now_(), this.at_);
    this.drain_();
    return told;
  }

  private drain_(): void {
    if (this.draining_ || this.over_) return;
    this.draining_ = true;
    const { core_: core, at_: at } = this as unknown as { core_: OutboxCore; at_: number };
    try {
      for (;;) {
        const kind = core.outbox_next(at);
        const from = core.outbox_row(at) / 8;
        const row = this.view_().slice(from, from + 5) as unknown as [number, number, number, number, number];
        if (!kind) {
          this.alarm_(row[0]);
          break;
        }
        this.carryOut_(kind, row);
      }
    } finally {
      this.draining_ = false;
    }
    this.flushed_();
  }

  private alarm_(delay: number): void {
    clearTimeout(this.timer_);
    if (delay < 0 || this.over_) return;
    this.timer_ = setTimeout(() => this.tell_((core, at) => core.outbox_wake(at)), delay);
    (this.timer_ as { unref?: () => void }).unref?.();
  }

  private carryOut_(kind: number, [slot, token, a, b, c]: [number, number, number, number, number]): void {
    const item = this.slots_[slot];
    if (!item) return;
    const doing = this.doings_.get(slot);
    if (kind === LOOK) this.look_(item, slot, token);
    else if (kind === SEND) this.send_(item, slot, token);
    else if (kind === ABORT) {
      if (doing?.token_ === token) this.abort_(slot, doing);
    } else if (kind === NUDGE) {
      if (doing?.token_ === token) doing.call_?.retryNow();
    } else if (kind === WRITE) this.write_(item, slot, token, a);
    else if (kind === NOTE) this.note_(item, a, b);
    else if (kind === TELL) {
      this.looks_(item, a, b, c);
      if (a === REJECTED) this.fire_("rejected", item.snapshot);
      else if (this.is_) this.channel_?.tell_("looks", item.record_.id, a, b, c, item.attempts_);
      this.changed_();
    } else if (kind === OVER) {
      this.slots_[slot] = undefined;
      this.doings_.delete(slot);
      this.items_.delete(item.record_.id);
      item.over_(a);
      if (a === DELIVER) this.fire_("delivered", item.snapshot);
      else if (a === EXPIRE) this.fire_("expired", item.snapshot);
      if (!this.items_.size) this.synced_ = false;
      this.changed_();
    } else this.channel_?.tell_("retry-now", item.record_.id);
  }

  private looks_(item: Item, ...how: Parameters<Item["looks_"]>): void {
    item.looks_(...how);
    if (item.waits_) this.watched_();
  }

  private abort_(slot: number, doing: Doing): void {
    this.doings_.delete(slot);
    doing.off_ = true;
    doing.call_?.cancel();
  }

  // ------------------------------------------------------------ what the core commands

  /** Another tab may have added one before it, or taken it out; or this one is the sender no more. */
  private async look_(item: Item, slot: number, token: number): Promise<void> {
    const looked = (look: number): void => {
      if (this.slots_[slot] === item) this.tell_((core, at) => core.outbox_looked(at, slot, token, look));
    };
    try {
      point("looking");
      const { record, body, notes } = await this.storage_.head(item.record_.queue, isNewer);
      point("looked");
      if (this.over_ || this.slots_[slot] !== item) return;
      this.setPaused_(notes[PAUSED] === true);
      if (this.paused_ || !this.sender_?.holds_(notes)) return looked(BARRED);
      const content = bodyOf(body);
      const { id, size } = Object(record) as OutboxRecord;
      // An empty one must not take the place of one that is lost.
      const lost = content === undefined || (content === null && size > 0);
      const fault = record !== undefined && (faultOf(record) ?? (lost && "its body is none"));
      if (fault) {
        await this.setAside_(id, fault);
        return looked(ANOTHER);
      }
      if (record === undefined || id > item.record_.id) {
        return looked(wasDelivered(item.record_.id, notes) ? GONE_DELIVERED : GONE);
      }
      if (id !== item.record_.id) {
        this.know_(record as OutboxRecord);
        return looked(ANOTHER);
      }
      item.record_ = record as OutboxRecord;
      this.doings_.set(slot, { token_: token, before_: item.attempts_, body_: content as BodyInit | null });
      looked(FOUND);
    } catch (error) {
      this.report_(error);
      looked(FAILED);
    }
  }

  private async send_(item: Item, slot: number, token: number): Promise<void> {
    const doing = this.doings_.get(slot);
    if (doing?.token_ !== token) return;
    const { record_: record } = item;
    const { prepare_: prepare } = this.settings_;
    let call: Call | undefined;
    let status = UNANSWERED;
    let until: number | null | undefined;
    try {
      const init = initOf(record, doing.body_);
      const options = {
        ...(!keyedBy(record) && { idempotencyKey: record.key }),
        // Until it is delivered, or too old; how long to wait is for the client to say.
        retry: { limit: Number.POSITIVE_INFINITY, maxRetryAfter: Number.POSITIVE_INFINITY, statusCodes: AGAIN },
        totalTimeout: false,
        throwHttpErrors: false,
        onCircuitOpen: "wait",
        onOffline: "wait",
        onExhausted: "settle",
        onState: (state: CallState) => this.phase_(item, slot, doing, state),
      } as const;
      if (prepare) {
        const request = new Request(record.url, init);
        point("preparing");
        const made = (await inTime(prepare(request))) ?? request;
        point("prepared");
        if (doing.off_ || this.over_) return;
        const again = (at: { request: Request }) => inTime(prepare(at.request));
        point("sending");
        call = this.client_.start(made, { ...options, retry: { ...options.retry, beforeRetry: again } });
      } else {
        point("sending");
        call = this.client_.start(record.url, { ...init, ...options });
      }
      doing.call_ = call;
      point("sent");
      const response = await call.response;
      point("answered");
      if (doing.off_) return giveUp(response);
      item.answer_ = response;
      status = response.type === "opaque" ? 0 : response.status;
      until = (call.state as { retryAt?: number }).retryAt;
    } catch {
      const state = Object(call?.state) as { reason?: unknown; retryAt?: number | null };
      if (state.reason === "invalid-request") status = INVALID;
      until = state.retryAt;
    }
    if (doing.off_ || this.over_) return;
    this.doings_.delete(slot);
    this.tell_((core, at) => core.outbox_ended(at, slot, token, status, until ?? Number.NaN));
    // Neither delivered nor refused: nobody reads it.
    if (this.slots_[slot] === item && item.view_ === WAITING) {
      giveUp(item.answer_);
      item.answer_ = undefined;
    }
  }

  private phase_(item: Item, slot: number, doing: Doing, state: CallState): void {
    // What a page that has gone sent may arrive; it does not send it again.
    if (doing.off_) doing.call_?.cancel();
    if (doing.off_ || this.over_) return;
    const { status } = state;
    let phase = 0;
    let until = Number.NaN;
    if (status === "offline") phase = 1;
    else if (status === "waiting") {
      phase = state.source === "backoff" || state.source === "custom" ? 2 : 3;
      until = state.retryAt;
    } else if (status === "circuit-open" && !state.settled) {
      phase = CIRCUIT;
      until = state.retryAt ?? Number.NaN;
    } else if (status !== "loading") return;
    // A countdown is no change.
    const said = [phase, until, state.attempt].join();
    if (said === doing.said_) return;
    doing.said_ = said;
    item.attempts_ = doing.before_ + state.attempt;
    this.tell_((core, at) => core.outbox_phase(at, slot, doing.token_, phase, until));
  }

  private async write_(item: Item, slot: number, token: number, change: number): Promise<void> {
    const { id } = item.record_;
    let written = true;
    let told: News | undefined;
    this.writing_.add(id);
    try {
      if (change === REJECT) {
        const answer = await this.keep_(item);
        const kept = answer && { answer };
        point("burying");
        await this.storage_.patch(id, { dead: 1, attempts: item.attempts_, ...kept });
        point("buried");
        told = ["marked", id, true];
      } else if (change === REVIVE) {
        point("reviving");
        await this.storage_.patch(id, { dead: 0, notBefore: 0, delay: 0 });
        point("revived");
        told = ["marked", id, false];
      } else {
        // The page need not wait for the store.
        if (change === DELIVER) item.resolve_();
        const answer = change === DELIVER ? await this.keep_(item) : undefined;
        point("removing");
        await this.storage_.remove(id, change === DELIVER);
        point("removed");
        told = ["over", id, change, answer];
      }
    } catch (error) {
      written = false;
      this.report_(error);
    }
    this.writing_.delete(id);
    if (written && told) this.channel_?.tell_(...told);
    if (!this.over_) this.tell_((core, at) => core.outbox_wrote(at, slot, token, written));
  }

  /** What other tabs, and whoever comes later, have of the answer. An answer that nobody reads would hold its connection. */
  private async keep_(item: Item): Promise<StoredAnswer | undefined> {
    const { answer_: answer, asked_: asked } = item;
    if (!answer) return;
    point("keeping");
    const kept = await keep(answer, asked);
    point("kept");
    if (!item.asked_) item.answer_ = answerOf(kept);
    return kept;
  }

  /** A wait that a reload is not to end. That it is not noted does no harm. */
  private note_(item: Item, until: number, delay: number): void {
    const changes = { notBefore: until, delay, attempts: item.attempts_ };
    point("noting");
    this.storage_.patch(item.record_.id, changes).then(
      () => point("noted"),
      (error) => this.report_(error),
    );
  }

  // ------------------------------------------------------------ the store

  /** A record that is in the store. */
  private add_(record: OutboxRecord): Item {
    const item = new Item(this.owner_, record);
    const { id, queue, size, createdAt, notBefore, delay, dead } = record;
    this.insert_(item);
    this.tell_((core, at) => {
      const text = encoder.encode(queue);
      const room = core.outbox_room(at, text.length);
      new Uint8Array(core.memory.buffer, room).set(text);
      item.slot_ = core.outbox_add(at, text.length, id, size, createdAt, notBefore, delay, !!dead);
      this.slots_[item.slot_] = item;
    });
    this.changed_();
    return item;
  }

  /** Ids grow, but for news that overtake each other. */
  private insert_(item: Item): void {
    const { id } = item.record_;
    const late = id < this.last_ ? [...this.items_].filter(([other]) => other > id) : [];
    for (const [other] of late) this.items_.delete(other);
    for (const [each, one] of [[id, item] as const, ...late]) this.items_.set(each, one);
    this.last_ = Math.max(this.last_, id);
  }

  /** Knows what the store knows. */
  private async sync_(): Promise<void> {
    const known = [...this.items_.keys()];
    this.coming_++;
    point("loading");
    const { records, notes } = await this.storage_.list().finally(() => this.came_());
    point("loaded");
    if (this.over_) return;
    const there = new Set<unknown>();
    for (const record of records) {
      const { id } = Object(record) as OutboxRecord;
      there.add(id);
      if (isNewer(record)) continue;
      const fault = faultOf(record);
      if (fault) await this.setAside_(id, fault);
      else this.know_(record as OutboxRecord);
    }
    for (const id of known)
      if (!there.has(id) && !this.writing_.has(id)) this.removed_(id, wasDelivered(id, notes) ? DELIVER : CANCEL);
    this.setPaused_(notes[PAUSED] === true);
  }

  /** The entry of a record. In a store that was deleted and made anew its id may have been another one's. */
  private itemOf_({ id, key }: OutboxRecord): Item | undefined {
    const item = this.items_.get(id);
    if (item && item.record_.key !== key) this.removed_(id, CANCEL);
    return this.items_.get(id);
  }

  private know_(record: OutboxRecord): void {
    const item = this.itemOf_(record);
    if (!item) this.add_(record);
    else if ((item.view_ === REJECTED) !== !!record.dead) this.mark_(item, !!record.dead, record);
    else this.tell_((core, at) => core.outbox_noted(at, item.slot_, record.notBefore, record.delay));
  }

  private mark_(item: Item, rejected: boolean, record: unknown): void {
    if (rejected) item.answer_ = answerOf((record as OutboxRecord | undefined)?.answer);
    this.tell_((core, at) => core.outbox_marked(at, item.slot_, rejected));
  }

  private removed_(id: number, change: number, answer?: unknown): void {
    const item = this.items_.get(id);
    if (!item) return;
    if (change === DELIVER && !item.answer_) item.answer_ = answerOf(answer);
    this.tell_((core, at) => core.outbox_removed(at, item.slot_, change));
  }

  /** Out of the way of the others, and kept. */
  private async setAside_(id: number, reason: string): Promise<void> {
    point("setting-aside");
    const record = await this.storage_.quarantine(id, reason);
    point("set-aside");
    this.removed_(id, CANCEL);
    if (record) this.fire_("quarantined", record);
  }

  private report_(error: unknown): void {
    if (!this.over_) this.fire_("storage-error", storageError(error));
  }

  // ------------------------------------------------------------ other tabs

  private setSender_(is: boolean): void {
    if (!this.core_) return;
    this.is_ = is;
    const { away_: away } = this;
    this.sends_ = false;
    if (is) {
      // What the others did meanwhile comes first.
      point("taking-over");
      this.sync_()
        .catch((error) => this.report_(error))
        .then(() => {
          if (!this.is_ || this.over_) return;
          // What the last one said of them is over.
          for (const item of this.items_.values()) if (item.heard_ && item.pending_) item.looks_(0, Infinity, 0);
          point("taken-over");
          this.sends_ = true;
          // The last one may have been gone before it could tell what it took out.
          this.channel_?.tell_("sync");
          this.tell_((core, at) => {
            core.outbox_sender(at, true, false);
            if (this.flushes_.length) core.outbox_flush(at);
          });
        });
    } else if (!this.over_) {
      // What a page that goes has sent is left to arrive.
      for (const doing of away ? this.doings_.values() : []) {
        doing.off_ = true;
        if (doing.call_) this.left_.push(doing.call_);
      }
      this.tell_((core, at) => core.outbox_sender(at, false, !away));
      this.doings_.clear();
      // It lost that by hanging, or sleeping, and has missed what was told meanwhile.
      if (!away) this.sync_().catch(() => {});
    }
    this.changed_();
  }

  private setPaused_(paused: boolean): void {
    if (paused === this.paused_) return;
    this.paused_ = paused;
    this.tell_((core, at) => core.outbox_paused(at, paused));
    this.changed_();
  }

  private async reread_(id: number): Promise<unknown> {
    point("hearing");
    const record = await this.storage_.read(id);
    point("heard");
    return record;
  }

  /** News overtake what they are about. */
  private came_(): void {
    this.coming_--;
    if (!this.early_.length) return;
    // Once it is in its place.
    setTimeout(() => {
      for (const news of this.early_.splice(0)) this.hear_(news);
    });
  }

  private hear_(news: News): void {
    if (this.over_) return;
    const [kind, id] = news;
    const item = this.items_.get(id as number);
    if (!item && (kind === "looks" || kind === "over")) {
      if (this.coming_ && this.early_.length < EARLY) this.early_.push(news);
      return;
    }
    if (kind === "hello") {
      if (this.is_) {
        for (const { view_: view, record_: record, said_: said } of this.items_.values()) {
          if (view > 0 && view < REJECTED) this.channel_?.tell_("looks", record.id, ...said);
        }
      }
    } else if (kind === "sync") {
      if (!this.is_) this.sync_().catch(() => {});
    } else if (kind === "added" || kind === "marked") {
      this.coming_++;
      this.reread_(id)
        .then((record) => {
          if (record !== undefined && !this.over_ && !isNewer(record) && !faultOf(record))
            this.know_(record as OutboxRecord);
        })
        .catch(() => {})
        .finally(() => this.came_());
    } else if (kind === "looks") {
      if (!item || this.is_ || item.view_ === REJECTED) return;
      this.looks_(item, ...(news.slice(2) as [number, number, number, number]));
      item.heard_ = true;
      this.changed_();
    } else if (kind === "over") {
      // A page that lies cannot hide one that is there.
      this.reread_(id).then(
        (record) => {
          if (record === undefined && !this.over_ && !this.writing_.has(id)) this.removed_(id, news[2], news[3]);
        },
        () => {},
      );
    } else if (kind === "retry-now") {
      if (item && this.is_) this.retryNow_(item);
    } else if (kind === "flush") {
      if (this.is_) this.flush_().then((pending) => this.channel_?.tell_("flushed", pending));
    } else if (kind === "flushed") {
      if (!this.is_) for (const done of this.flushes_.splice(0)) done(id);
    } else {
      // As the store has it, whatever a page says.
      this.storage_
        .note(PAUSED, (paused) => paused)
        .then(
          (paused) => this.over_ || this.setPaused_(paused === true),
          () => {},
        );
    }
  }

  // ------------------------------------------------------------ what a page asks for

  private readonly owner_ = {
    retryNow_: (item: Item): boolean => this.retryNow_(item),
    cancel_: (item: Item): boolean => this.cancel_(item),
    watched_: (): void => this.watched_(),
  };

  private retryNow_(item: Item): boolean {
    if (this.over_ || this.slots_[item.slot_] !== item) return false;
    return !!this.tell_((core, at) => core.outbox_retry_now(at, item.slot_));
  }

  private cancel_(item: Item): boolean {
    if (this.over_ || this.slots_[item.slot_] !== item) return false;
    return !!this.tell_((core, at) => core.outbox_cancel(at, item.slot_));
  }

  /** Stored one after another, in the order in which they were sent. */
  async store_(input: RequestInfo | URL, init: OutboxInit | undefined): Promise<Entry> {
    const drafted = draft(input, init, this.settings_);
    const { signal_: signal } = drafted;
    signal?.throwIfAborted();
    const whole = drafted.read_();
    whole.catch(() => {});
    const mine = this.chain_.then(async () => {
      await this.opened_.catch(() => {});
      if (this.failure_) throw this.failure_;
      point("reading");
      const { record_: record, body_: body } = await whole;
      point("read");
      signal?.throwIfAborted();
      const refused = this.tell_((core, at) => core.outbox_admit(at, record.size));
      if (refused === 1) throw new OutboxError("too-large", `the body has ${record.size} bytes, more than maxBytes`);
      if (refused) throw this.full_(new OutboxError("storage-full", "the outbox has maxEntries or maxBytes"));
      point("storing");
      this.coming_++;
      const adding = this.storage_.add(record, body).finally(() => this.came_());
      const id = await adding.catch((error) => {
        const failure = storageError(error);
        throw failure.code === "storage-full" ? this.full_(failure) : failure;
      });
      point("stored");
      // After dispose() it is stored all the same.
      const stored = { ...record, id };
      if (this.over_) return new Item(this.owner_, stored).entry;
      const item = this.itemOf_(stored) ?? this.add_(stored);
      this.channel_?.tell_("added", id);
      this.follow_(item, signal);
      this.wake_();
      if (drafted.secret_) this.warn_();
      return item.entry;
    });
    this.chain_ = mine.catch(() => {});
    return mine;
  }

  private full_(error: OutboxError): OutboxError {
    this.fire_("storage-full", error);
    return error;
  }

  /** The caller's signal takes it back. */
  private follow_(item: Item, signal: AbortSignal | undefined): void {
    if (!signal) return;
    const cancel = (): void => {
      this.cancel_(item);
    };
    if (signal.aborted) cancel();
    else {
      signal.addEventListener("abort", cancel);
      item.release_ = () => signal.removeEventListener("abort", cancel);
    }
  }

  private warn_(): void {
    if (this.warned_ || this.settings_.prepare_) return;
    this.warned_ = true;
    console.warn("steadfetch: an outbox stores no Authorization; its option `prepare` adds it to each attempt");
  }

  /** Asks the browser to wake the service worker, if there is one, when the network is back. */
  private wake_(): void {
    if (this.synced_ || !this.storage_.durable) return;
    this.synced_ = true;
    globalThis.navigator?.serviceWorker
      ?.getRegistration()
      .then((registration) => {
        this.registration_ = registration as Box["registration_"];
        this.register_();
      })
      .catch(() => {});
  }

  private register_(): void {
    this.registration_?.sync?.register(syncTag(this.settings_.name_)).catch(() => {});
  }

  async flush_(): Promise<number> {
    await this.opened_.catch(() => {});
    await this.chain_;
    if (this.over_ || this.failure_) return this.pending_();
    // It may be about to see what there is.
    if (this.is_) await this.sync_().catch(() => {});
    if (this.over_) return this.pending_();
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      this.flushes_.push((pending) => {
        clearTimeout(timer);
        resolve(pending);
      });
      if (this.is_) this.tell_((core, at) => core.outbox_flush(at));
      else {
        this.channel_?.tell_("flush");
        timer = setTimeout(() => resolve(this.pending_()), PATIENCE);
        this.flushed_();
      }
    });
  }

  private flushed_(): void {
    if (!this.flushes_.length || this.over_) return;
    const quiet = this.sends_ && !!this.core_?.outbox_quiet(this.at_);
    if (!quiet && this.items_.size) return;
    for (const done of this.flushes_.splice(0)) done(this.pending_());
  }

  async pause_(paused: boolean): Promise<void> {
    await this.opened_;
    if (this.failure_) throw this.failure_;
    try {
      point("pausing");
      await this.storage_.note(PAUSED, () => paused || undefined);
      point("pause-stored");
    } catch (error) {
      throw storageError(error);
    }
    this.setPaused_(paused);
    this.channel_?.tell_("paused", paused);
  }

  async quarantined_() {
    await this.opened_;
    try {
      return await this.storage_.quarantined();
    } catch (error) {
      throw storageError(error);
    }
  }

  entry_(id: number): Entry | undefined {
    return this.items_.get(id)?.entry;
  }

  // ------------------------------------------------------------ what a page sees

  private pending_(): number {
    let count = 0;
    for (const item of this.items_.values()) if (item.pending_) count++;
    return count;
  }

  private readonly look_at_ = (): OutboxSnapshot => {
    if (!this.snapshot_) {
      const all = [...this.items_.values()];
      const entries = all.filter((item) => item.pending_).map((item) => item.snapshot);
      this.snapshot_ = Object.freeze({
        count: entries.length,
        entries: Object.freeze(entries),
        rejected: Object.freeze(all.filter((item) => !item.pending_).map((item) => item.snapshot)),
        paused: this.paused_,
        sender: this.is_,
        durable: this.ready_ && this.storage_.durable,
      });
    }
    return this.snapshot_;
  };

  /** Many changes in one turn are told once. */
  private changed_(): void {
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
  private watched_(): void {
    clearTimeout(this.tick_);
    this.tick_ = undefined;
    if (this.over_ || globalThis.document?.visibilityState === "hidden") return;
    const watched = [...this.items_.values()].filter(
      (item) => item.waits_ && (this.stores_.some_ || item.listeners_.some_),
    );
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

  private fire_<Type extends keyof OutboxEvents>(type: Type, detail: OutboxEvents[Type]["detail"]): void {
    this.events_.dispatchEvent(new CustomEvent(type, { detail }));
  }

  api_(): Outbox {
    const store = {
      getSnapshot: this.look_at_,
      subscribe: (listener: (snapshot: OutboxSnapshot) => void): (() => void) => {
        let last: OutboxSnapshot | undefined;
        const look = (): void => {
          const now = this.look_at_();
          if (now !== last) listener((last = now));
        };
        const off = this.stores_.add_(look);
        tell(look, undefined);
        return off;
      },
    };
    const dispose = (): void => this.dispose_();
    return {
      send: (input: RequestInfo | URL, init?: OutboxInit) => this.store_(input, init),
      get: (id: number) => this.entry_(id),
      getServerSnapshot: () => EMPTY,
      ...store,
      flush: () => this.flush_(),
      pause: () => this.pause_(true),
      resume: () => this.pause_(false),
      persist: async () => !!(await globalThis.navigator?.storage?.persist?.()),
      quarantined: () => this.quarantined_(),
      addEventListener: (type: string, listener: (event: never) => void, options?: AddEventListenerOptions) =>
        this.events_.addEventListener(type, listener as EventListener, options),
      removeEventListener: (type: string, listener: (event: never) => void) =>
        this.events_.removeEventListener(type, listener as EventListener),
      dispose,
      [Symbol.dispose ?? Symbol.for("Symbol.dispose")]: dispose,
    } as unknown as Outbox;
  }
}

export function createOutbox<Meta = unknown>(client: SteadFetch, options?: OutboxOptions<Meta>): Outbox<Meta> {
  return new Box(client, options as OutboxOptions | undefined).api_() as unknown as Outbox<Meta>;
}
