// An outbox at work: the core is told what happened, and what it commands is carried out. Nothing is decided here.

import type { Call, SteadFetch } from "../index.js";
import type { Entry, OutboxEvents, OutboxInit, OutboxRecord, OutboxStorage, StoredAnswer } from "../outbox.js";
import { mono } from "../src/platform.ts";
import { bits, uuid } from "../src/random.ts";
import { giveUp } from "../src/response.ts";
import { Channel, type News } from "./channel.ts";
import { type OutboxCore, whenThere } from "./core.ts";
import { wasDelivered } from "./delivered.ts";
import { OutboxError, storageError } from "./error.ts";
import { Item } from "./item.ts";
import { List } from "./list.ts";
import { memoryStorage } from "./memory.ts";
import type { Settings } from "./options.ts";
import { point } from "./point.ts";
import { answerOf, bodyOf, draft, faultOf, isNewer, keep } from "./record.ts";
import { Round } from "./round.ts";
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
/** A note in the store. */
const PAUSED = "paused";
/** So many news are kept of what is not there yet. */
const EARLY = 1_000;
/** How long a flush waits for the answer of the tab that sends. */
const PATIENCE = 30_000;

/** Those that share a store that is not on the disk, by what they have in common. */
const shared = new WeakMap<OutboxStorage, string>();

function idOf(storage: OutboxStorage): string {
  let id = shared.get(storage);
  if (!id) shared.set(storage, (id = uuid()));
  return id;
}

const encoder = new TextEncoder();

export class Driver {
  private readonly client_: SteadFetch;
  private readonly settings_: Settings;
  private storage_: OutboxStorage;
  private core_: OutboxCore | undefined;
  private at_ = 0;
  private numbers_ = new Float64Array();
  readonly list_ = new List(() => ({
    paused: this.paused_,
    sender: this.is_,
    durable: this.ready_ && this.storage_.durable,
  }));
  private readonly slots_: (Item | undefined)[] = [];
  /** What is under way, by slot. */
  private readonly rounds_ = new Map<number, Round>();
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
  private draining_ = false;
  private chain_: Promise<unknown> = Promise.resolve();
  private timer_: ReturnType<typeof setTimeout> | undefined;
  private synced_ = false;
  private registration_: { sync?: { register(tag: string): Promise<void> } } | undefined;
  private warned_ = false;
  private readonly events_: EventTarget;
  private sender_: Sender | undefined;
  private channel_: Channel | undefined;
  private flushes_: ((pending: number) => void)[] = [];

  constructor(client: SteadFetch, settings: Settings, events: EventTarget) {
    this.client_ = client;
    this.settings_ = settings;
    this.storage_ = settings.storage_;
    this.events_ = events;
    this.opened_ = this.open_();
    // Whoever sends is told.
    this.opened_.catch(() => {});
  }

  // ------------------------------------------------------------ beginning and end

  private async open_(): Promise<void> {
    try {
      const { maxAge_: age, maxEntries_: entries, maxBytes_: bytes, stop_: stop } = this.settings_;
      const core = await whenThere();
      if (this.over_) return;
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
    if (this.list_.pending_()) this.wake_();
    this.list_.changed_();
  }

  /** Reads what is stored; in memory, where the browser refuses and the page wants that. */
  private async load_(): Promise<void> {
    try {
      await this.sync_();
    } catch (error) {
      if (this.over_) return;
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
      this.list_.watched_();
      // It may never be seen again; what was asked for before may be used up.
      if (document.visibilityState === "hidden" && this.list_.pending_()) this.register_();
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
    const fault = new OutboxError("disposed", "this outbox was disposed of, or its client");
    this.failure_ = fault;
    for (const round of this.rounds_.values()) round.cancel_();
    this.rounds_.clear();
    const left = this.leave_();
    for (const type of ["pagehide", "pageshow"]) globalThis.removeEventListener?.(type, this.page_);
    for (const type of ["freeze", "resume", "visibilitychange"]) {
      globalThis.document?.removeEventListener(type, this.page_);
    }
    clearTimeout(this.timer_);
    this.list_.end_(fault);
    Promise.allSettled([this.opened_, this.chain_, left]).then(() => this.storage_.close());
    for (const done of this.flushes_.splice(0)) done(this.list_.pending_());
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
    const round = this.rounds_.get(slot);
    if (kind === LOOK) this.look_(item, slot, token);
    else if (kind === SEND) this.send_(item, slot, token);
    else if (kind === ABORT) {
      if (round?.token_ !== token) return;
      this.rounds_.delete(slot);
      round.cancel_();
    } else if (kind === NUDGE) {
      if (round?.token_ === token) round.retryNow_();
    } else if (kind === WRITE) this.write_(item, slot, token, a);
    else if (kind === NOTE) this.note_(item, a, b);
    else if (kind === TELL) {
      item.looks_(a, b, c);
      if (item.waits_) this.list_.watched_();
      if (a === REJECTED) this.fire_("rejected", item.snapshot);
      else if (this.is_) this.channel_?.tell_("looks", item.record_.id, ...item.said_);
      this.list_.changed_();
    } else if (kind === OVER) {
      this.slots_[slot] = undefined;
      this.rounds_.delete(slot);
      this.list_.delete_(item);
      item.over_(a);
      if (a === DELIVER) this.fire_("delivered", item.snapshot);
      else if (a === EXPIRE) this.fire_("expired", item.snapshot);
      if (!this.list_.size_) this.synced_ = false;
      this.list_.changed_();
    } else this.channel_?.tell_("retry-now", item.record_.id);
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
      this.rounds_.set(slot, new Round(token, item, content as BodyInit | null));
      looked(FOUND);
    } catch (error) {
      this.report_(error);
      looked(FAILED);
    }
  }

  private async send_(item: Item, slot: number, token: number): Promise<void> {
    const round = this.rounds_.get(slot);
    if (round?.token_ !== token) return;
    const ended = await round.send_(this.client_, this.settings_, (phase, until) =>
      this.tell_((core, at) => core.outbox_phase(at, slot, token, phase, until)),
    );
    // Without a client nothing is sent here any more, but another tab may have one.
    if (ended === null) this.dispose_();
    if (!ended) return;
    this.rounds_.delete(slot);
    this.tell_((core, at) => core.outbox_ended(at, slot, token, ...ended));
    // Neither delivered nor refused: nobody reads it.
    if (this.slots_[slot] === item && item.view_ === WAITING) {
      giveUp(item.given_);
      item.given_ = undefined;
    }
  }

  private async write_(item: Item, slot: number, token: number, change: number): Promise<void> {
    const { id } = item.record_;
    let written = true;
    let there = true;
    let told: News | Promise<News> | undefined;
    this.writing_.add(id);
    try {
      if (change === REJECT) {
        const answer = await this.keep_(item);
        const kept = answer && { answer };
        point("burying");
        there = await this.storage_.patch(id, { dead: 1, attempts: item.attempts_, ...kept });
        point("buried");
        told = ["marked", id, true];
      } else if (change === REVIVE) {
        point("reviving");
        there = await this.storage_.patch(id, { dead: 0, notBefore: 0, delay: 0 });
        point("revived");
        told = ["marked", id, false];
      } else {
        if (change !== DELIVER && item.given_ !== item.answer_) giveUp(item.given_);
        const keeping = change === DELIVER ? this.keep_(item) : undefined;
        // What the page reads itself is copied beside that, for as long as it comes.
        if (!item.asked_) await keeping;
        point("removing");
        await this.storage_.remove(id, change === DELIVER);
        point("removed");
        told = Promise.resolve(keeping).then((answer): News => ["over", id, change, answer]);
      }
    } catch (error) {
      written = false;
      if (change === DELIVER) item.settle_();
      this.report_(error);
    }
    this.writing_.delete(id);
    if (written) item.given_ = item.kept_ = undefined;
    if (there === false) {
      // Another tab has taken it out meanwhile, and what it told was not heard.
      await this.sync_().catch(() => {});
      this.removed_(id, CANCEL);
      return;
    }
    if (written) Promise.resolve(told).then((news) => news && this.channel_?.tell_(...news));
    if (!this.over_) this.tell_((core, at) => core.outbox_wrote(at, slot, token, written));
  }

  /** What other tabs, and whoever comes later, have of the answer. An answer that nobody reads would hold its connection. */
  private async keep_(item: Item): Promise<StoredAnswer | undefined> {
    const { given_: given, asked_: asked } = item;
    if (!given || item.kept_) return item.kept_;
    if (asked) item.answer_ = given;
    point("keeping");
    // A write that failed is begun again, and the body can be read once.
    const kept = await (item.kept_ = keep(given, asked));
    point("kept");
    // One that may not be looked at cannot be made anew, and has no body that could be gone.
    if (!asked) item.answer_ = answerOf(kept) ?? given;
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
    this.list_.insert_(item);
    this.tell_((core, at) => {
      const text = encoder.encode(queue);
      const room = core.outbox_room(at, text.length);
      new Uint8Array(core.memory.buffer, room).set(text);
      item.slot_ = core.outbox_add(at, text.length, id, size, createdAt, notBefore, delay, !!dead);
      this.slots_[item.slot_] = item;
    });
    this.list_.changed_();
    return item;
  }

  /** Knows what the store knows. */
  private async sync_(): Promise<void> {
    const known = this.list_.all_().map(({ record_: { id } }) => id);
    this.coming_++;
    point("loading");
    const { records, notes } = await this.storage_.list().finally(() => this.came_());
    point("loaded");
    if (this.over_) return;
    const there = new Set<unknown>();
    const faults: [id: number, fault: string][] = [];
    for (const record of records) {
      const { id } = Object(record) as OutboxRecord;
      there.add(id);
      if (isNewer(record)) continue;
      const fault = faultOf(record);
      if (fault) faults.push([id, fault]);
      else this.know_(record as OutboxRecord);
    }
    for (const id of known)
      if (!there.has(id) && !this.writing_.has(id)) this.removed_(id, wasDelivered(id, notes) ? DELIVER : CANCEL);
    this.setPaused_(notes[PAUSED] === true);
    // At the end: what was read is of the past by then.
    for (const [id, fault] of faults) await this.setAside_(id, fault);
  }

  /** The entry of a record. In a store that was deleted and made anew its id may have been another one's. */
  private itemOf_({ id, key }: OutboxRecord): Item | undefined {
    const item = this.list_.get_(id);
    if (item && item.record_.key !== key) this.removed_(id, CANCEL);
    return this.list_.get_(id);
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
    const item = this.list_.get_(id);
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
          for (const item of this.list_.all_()) if (item.heard_ && item.pending_) item.looks_(0, Infinity, 0);
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
      for (const round of away ? this.rounds_.values() : []) {
        const call = round.leave_();
        if (call) this.left_.push(call);
      }
      this.tell_((core, at) => core.outbox_sender(at, false, !away));
      this.rounds_.clear();
      // It lost that by hanging, or sleeping, and has missed what was told meanwhile.
      if (!away) this.sync_().catch(() => {});
    }
    this.list_.changed_();
  }

  private setPaused_(paused: boolean): void {
    if (paused === this.paused_) return;
    this.paused_ = paused;
    this.tell_((core, at) => core.outbox_paused(at, paused));
    this.list_.changed_();
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
    const item = this.list_.get_(id as number);
    if (!item && (kind === "looks" || kind === "over")) {
      if (this.coming_ && this.early_.length < EARLY) this.early_.push(news);
      return;
    }
    if (kind === "hello") {
      if (this.is_) {
        for (const { view_: view, record_: record, said_: said } of this.list_.all_()) {
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
      item.hear_(...(news.slice(2) as [number, number, number, number, number]));
      if (item.waits_) this.list_.watched_();
      this.list_.changed_();
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
    watched_: (): void => this.list_.watched_(),
  };

  private retryNow_(item: Item): boolean {
    if (this.over_ || this.slots_[item.slot_] !== item) return false;
    // What waits in the tab that sends is known from that tab alone.
    if (!this.is_ && item.pending_ && !item.held_) return false;
    return !!this.tell_((core, at) => core.outbox_retry_now(at, item.slot_));
  }

  private cancel_(item: Item): boolean {
    if (this.over_ || this.slots_[item.slot_] !== item) return false;
    return !!this.tell_((core, at) => core.outbox_cancel(at, item.slot_));
  }

  /** Stored one after another, in the order in which they were sent. */
  async store_(input: RequestInfo | URL, init?: OutboxInit): Promise<Entry> {
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
      this.channel_?.tell_("added", id);
      if (this.over_) {
        const item = new Item(this.owner_, stored);
        item.settle_(this.failure_);
        return item.entry;
      }
      const item = this.itemOf_(stored) ?? this.add_(stored);
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

  /** Asks the browser to wake the service worker, as soon as there is one, when the network is back. */
  private wake_(): void {
    if (this.synced_ || !this.storage_.durable) return;
    this.synced_ = true;
    globalThis.navigator?.serviceWorker?.ready
      .then((registration) => {
        this.registration_ = registration as Driver["registration_"];
        if (this.list_.pending_()) this.register_();
      })
      .catch(() => {});
  }

  private register_(): void {
    this.registration_?.sync?.register(syncTag(this.settings_.name_)).catch(() => {});
  }

  async flush_(): Promise<number> {
    await this.opened_.catch(() => {});
    await this.chain_;
    if (this.over_ || this.failure_) return this.list_.pending_();
    // It may be about to see what there is.
    if (this.is_) await this.sync_().catch(() => {});
    if (this.over_) return this.list_.pending_();
    return new Promise((resolve) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      this.flushes_.push((pending) => {
        clearTimeout(timer);
        resolve(pending);
      });
      if (this.is_) this.tell_((core, at) => core.outbox_flush(at));
      else {
        this.channel_?.tell_("flush");
        timer = setTimeout(() => resolve(this.list_.pending_()), PATIENCE);
        this.flushed_();
      }
    });
  }

  private flushed_(): void {
    if (!this.flushes_.length || this.over_) return;
    const quiet = this.sends_ && !!this.core_?.outbox_quiet(this.at_);
    if (!quiet && this.list_.size_) return;
    for (const done of this.flushes_.splice(0)) done(this.list_.pending_());
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
    if (this.failure_) throw this.failure_;
    try {
      return await this.storage_.quarantined();
    } catch (error) {
      throw storageError(error);
    }
  }

  entry_(id: number): Entry | undefined {
    return this.list_.get_(id)?.entry;
  }

  private fire_<Type extends keyof OutboxEvents>(type: Type, detail: OutboxEvents[Type]["detail"]): void {
    this.events_.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
