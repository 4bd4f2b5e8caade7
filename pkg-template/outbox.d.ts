// steadfetch/outbox: writes that survive a page without network, a reload, a crash, and are sent once there is one.
import type { SteadFetch } from "./index.js";

/** All durations are milliseconds; every `...At` is wall-clock milliseconds since 1970-01-01 UTC. */
export interface OutboxOptions<Meta = unknown> {
  /** Outboxes of one name share their entries, in all tabs of the origin. Default "default". */
  name?: string | undefined;
  /** Entries that were not delivered by then expire. Default 7 days. */
  maxAge?: number | undefined;
  /** How many entries there may be, dead letters among them. Default 10,000. */
  maxEntries?: number | undefined;
  /** How many bytes all bodies together may have. Default 50 MiB. */
  maxBytes?: number | undefined;
  /** Entries of one key are delivered strictly in order, others do not wait for them. Default: the origin of the URL. */
  queueKey?: ((request: Request) => string) | undefined;
  /** Whether a queue goes on after the server has refused an entry (4xx), or stops until somebody decides. Default "continue". */
  onRejected?: "continue" | "stop" | undefined;
  /**
   * Adds what is not stored, such as `Authorization`, right before each attempt: by changing the request's headers, or by
   * returning another request. It may read the body, as to sign it. What it throws is a failed attempt, as is taking more than
   * 30 s, and the `failure` of the entry that waits. It takes the place of the client's `beforeRetry`.
   */
  prepare?: ((request: Request) => Request | void | Promise<Request | void>) | undefined;
  /** Also stores the headers `Authorization`, `Proxy-Authorization` and `Cookie`. Default false. */
  storeCredentials?: boolean | undefined;
  /** Where entries are stored. Default `indexedDBStorage(name)`. */
  storage?: OutboxStorage<Meta> | undefined;
  /**
   * What happens where the browser refuses storage, as some private modes do. "reject": `send()` rejects. "memory": entries
   * live as long as the page, and the snapshot says `durable: false`. Default "reject".
   */
  onStorageDenied?: "reject" | "memory" | undefined;
}

/** As for `fetch`, but for what belongs to the client (`retry` and the like) and for bodies that are streams. */
export interface OutboxInit<Meta = unknown> extends RequestInit {
  /** Anything of the caller's that can be cloned, such as what a list shows of the entry. */
  meta?: Meta | undefined;
}

/** What an entry is at: the first four are pending, the others its end. */
export type EntryStatus =
  | "queued"
  | "sending"
  | "waiting"
  | "offline" // pending
  | "delivered"
  | "rejected"
  | "expired"
  | "cancelled";

/** What all states of an entry have. */
export interface EntryStateBase {
  /** Attempts that were made, on all pages. */
  readonly attempts: number;
  /** When it became this. */
  readonly since: number;
}
/** Stored; its turn has not come. */
export interface QueuedEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "queued";
}
/** A request is out. */
export interface SendingEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "sending";
}
/** It is sent again then. */
export interface WaitingEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "waiting";
  /** `null` while nobody knows, as while another call tries whether the server is back. */
  readonly retryAt: number | null;
  /** Until then, in ms; 0 where nobody knows. */
  readonly remaining: number;
  /** Why: its own pace, the server's word, an open circuit of the client, or a store that fails. */
  readonly cause: "backoff" | "retry-after" | "circuit-open" | "storage";
  /** What became of the last attempt, where there was one since the page was loaded. */
  readonly failure?: EntryFailure;
}
/** Why an attempt did not deliver an entry. */
export interface EntryFailure {
  /** Of the answer; null where there was none. */
  readonly status: number | null;
  /** Where there was none: what was thrown, such as by `prepare`. Only in the tab that sends. */
  readonly error?: unknown;
}
/** The browser is offline. */
export interface OfflineEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "offline";
}
/** The server has it. The response is there on a page that lived to see it. */
export interface DeliveredEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "delivered";
  /** The answer. */
  readonly response?: Response;
}
/** The server refused it for good. It stays as a dead letter until `retryNow()`, `cancel()` or its age ends it. */
export interface RejectedEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "rejected";
  /** Its body is kept up to 64 KiB. Missing where no request could be made of the entry. */
  readonly response?: Response;
}
/** Not delivered within `maxAge`. */
export interface ExpiredEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "expired";
}
/** Taken back. */
export interface CancelledEntry extends EntryStateBase {
  /** Tells the states apart. */
  readonly status: "cancelled";
}
/** What is going on with an entry. */
export type EntryState =
  | QueuedEntry
  | SendingEntry
  | WaitingEntry
  | OfflineEntry
  | DeliveredEntry
  | RejectedEntry
  | ExpiredEntry
  | CancelledEntry;

/** What does not change of an entry, and what can be done with it. */
export interface EntryBase<Meta = unknown> {
  /** Unique in its outbox; grows in the order in which entries were stored. */
  readonly id: number;
  /** Its Idempotency-Key: the same on every attempt, of every page. */
  readonly key: string;
  /** As in `Request.method`. */
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** What `queueKey` gave. */
  readonly queue: string;
  /** When it was sent to the outbox. */
  readonly createdAt: number;
  /** Of its body, in bytes. */
  readonly size: number;
  /** What the caller gave. */
  readonly meta: Meta | undefined;
  /** What is going on with it. */
  readonly state: EntryState;
  /** Sends it now: ends a wait, or takes a dead letter up again. False if that has no effect. */
  retryNow(): boolean;
  /** Takes it out of the outbox, and gives up a request that is out, which may have reached the server. False if it is over. */
  cancel(): boolean;
}

/** A write, from `send()` to its end. */
export interface Entry<Meta = unknown> extends EntryBase<Meta> {
  /**
   * Resolves with the server's answer, also with a refusal (4xx), as `fetch` does; rejects with an OutboxError if the entry
   * expires or is cancelled. Where another tab has sent it, or nobody had asked for this when it came, the body is there up to
   * 64 KiB. Never an unhandled rejection.
   */
  readonly response: Promise<Response>;
  /** Calls at once with the present state, then on each change; a countdown changes each second. */
  subscribe(listener: (state: EntryState) => void): () => void;
  /** The same object until it changes. */
  getSnapshot(): EntryState;
}

/** An entry at one moment. */
export interface EntrySnapshot<Meta = unknown> extends EntryBase<Meta> {
  /** How old it was then. */
  readonly age: number;
}

/** All entries at one moment, for a user interface. */
export interface OutboxSnapshot<Meta = unknown> {
  /** How many are pending: not delivered and not refused. */
  readonly count: number;
  /** Those, in the order in which they were stored. */
  readonly entries: readonly EntrySnapshot<Meta>[];
  /** Dead letters. */
  readonly rejected: readonly EntrySnapshot<Meta>[];
  /** Whether `pause()` holds. */
  readonly paused: boolean;
  /** Whether this tab is the one that sends. */
  readonly sender: boolean;
  /** False until the store is open, and where entries live in memory only. */
  readonly durable: boolean;
}

/** The events of an outbox, in every tab that has it. */
export interface OutboxEvents<Meta = unknown> {
  /** The server has it. */
  delivered: CustomEvent<EntrySnapshot<Meta>>;
  /** The server refused it. */
  rejected: CustomEvent<EntrySnapshot<Meta>>;
  /** It was not delivered within `maxAge`. */
  expired: CustomEvent<EntrySnapshot<Meta>>;
  /** An entry was not stored, since there is no room; `send()` rejects with the same error. */
  "storage-full": CustomEvent<OutboxError>;
  /** The store cannot be used, and why. */
  "storage-error": CustomEvent<OutboxError>;
  /** A record that makes no sense was set aside, see `quarantined()`. */
  quarantined: CustomEvent<QuarantinedRecord>;
}

/** Writes that are kept until the server has them. */
export interface Outbox<Meta = unknown> {
  /** Resolves once the entry is stored for good; rejects with an OutboxError, or with what `fetch` would reject a bad request with. */
  send(input: RequestInfo | URL, init?: OutboxInit<Meta>): Promise<Entry<Meta>>;
  /** An entry that is not over. */
  get(id: number): Entry<Meta> | undefined;
  /** Calls at once with the present snapshot, then on each change. */
  subscribe(listener: (snapshot: OutboxSnapshot<Meta>) => void): () => void;
  /** The same object until it changes. */
  getSnapshot(): OutboxSnapshot<Meta>;
  /** One without entries, always the same: what a server renders, and a page until it has taken that over. */
  getServerSnapshot(): OutboxSnapshot<Meta>;
  /** Sends what waits now. Resolves with how many are pending, once nothing goes on without time, a click or the network. */
  flush(): Promise<number>;
  /** Nothing more is sent, by no tab, until `resume()`; a reload changes nothing. Rejects if that cannot be stored. */
  pause(): Promise<void>;
  /** Goes on. */
  resume(): Promise<void>;
  /** Asks the browser not to clear the storage of the origin when it runs short (navigator.storage.persist()). */
  persist(): Promise<boolean>;
  /** Records that made no sense, as they were found. */
  quarantined(): Promise<readonly QuarantinedRecord[]>;
  /** As on any EventTarget. */
  addEventListener<Type extends keyof OutboxEvents>(
    type: Type,
    listener: (event: OutboxEvents<Meta>[Type]) => void,
    options?: AddEventListenerOptions,
  ): void;
  /** As on any EventTarget. */
  removeEventListener<Type extends keyof OutboxEvents>(
    type: Type,
    listener: (event: OutboxEvents<Meta>[Type]) => void,
    options?: EventListenerOptions,
  ): void;
  /** This page has no more to do with it; entries stay stored. */
  dispose(): void;
  /** The same. */
  [Symbol.dispose](): void;
}

/** Throws a RangeError or TypeError that names a bad option. Opens the store at once, where there is one. */
export function createOutbox<Meta = unknown>(client: SteadFetch, options?: OutboxOptions<Meta>): Outbox<Meta>;

// ---------------------------------------------------------------- errors

/** What kept an entry from being stored, or delivered. */
export type OutboxErrorCode =
  /** The browser refuses storage here. */
  | "storage-denied"
  /** There are `maxEntries`, or `maxBytes`, or the browser's quota is used up. */
  | "storage-full"
  /** The body alone is over `maxBytes`. */
  | "too-large"
  /** A stream, or anything else that cannot be kept. */
  | "not-storable"
  /** Another tab has a newer release of this package, which has changed the store: the page has to be reloaded. */
  | "newer-version"
  /** A database of that name is not ours. */
  | "foreign-database"
  /** The store failed otherwise; see `cause`. */
  | "storage-failed"
  /** The entry is older than `maxAge`. */
  | "expired"
  /** The entry was taken back. */
  | "cancelled"
  /** Another tab has delivered the entry and was gone before it could tell what the answer was. */
  | "answer-lost"
  /** After `dispose()`. */
  | "disposed";

/** Its name is "OutboxError". */
export class OutboxError extends Error {
  /** For programs; the message is for people. */
  readonly code: OutboxErrorCode;
}
/** Also for errors of another copy of this package. */
export function isOutboxError(error: unknown): error is OutboxError;

// ---------------------------------------------------------------- storage

/** What is kept of a request, but for its body. A record comes from the disk: it may be anything. */
export interface OutboxRecord<Meta = unknown> {
  /** Of this shape. */
  readonly version: 1;
  /** Given by `add()`. */
  readonly id: number;
  /** Its Idempotency-Key. */
  readonly key: string;
  /** The name of its queue. */
  readonly queue: string;
  /** As in `Request.method`. */
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Names are lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The rest of a RequestInit. */
  readonly init: Readonly<Record<string, string>>;
  /** Of the body, in bytes. */
  readonly size: number;
  /** When it was sent to the outbox. */
  readonly createdAt: number;
  /** How many were made. */
  readonly attempts: number;
  /** Not to be sent before, and how long that was when it was written. */
  readonly notBefore: number;
  /** How long it waits, in ms. */
  readonly delay: number;
  /** 1 is a dead letter. */
  readonly dead: 0 | 1;
  /** Of a dead letter. */
  readonly answer?: StoredAnswer;
  /** The caller's. */
  readonly meta?: Meta;
}

/** What is kept of the answer to a dead letter. */
export interface StoredAnswer {
  /** As in `Response.status`. */
  readonly status: number;
  /** As in `Response.statusText`. */
  readonly statusText: string;
  /** Names are lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Its bytes. */
  readonly body: ArrayBuffer | null;
}

/** A file of a form. */
export interface StoredFile {
  /** What is in it. */
  readonly bytes: ArrayBuffer;
  /** As in `Blob.type`. */
  readonly type: string;
  /** As in `File.name`. */
  readonly name: string;
  /** As in `File.lastModified`. */
  readonly lastModified: number;
}

/** What is kept of a body; `none` is no body. */
export type StoredBody = StoredNothing | StoredText | StoredBytes | StoredForm;

/** No body. */
export interface StoredNothing {
  /** Tells the kinds apart. */
  readonly kind: "none";
}
/** A string, or URLSearchParams. */
export interface StoredText {
  /** Tells the kinds apart. */
  readonly kind: "text";
  /** As it was. */
  readonly text: string;
}
/** A Blob, a buffer, or the body of a Request. */
export interface StoredBytes {
  /** Tells the kinds apart. */
  readonly kind: "bytes";
  /** What is in it. */
  readonly bytes: ArrayBuffer;
  /** As in `Blob.type`. */
  readonly type: string;
}
/** FormData. */
export interface StoredForm {
  /** Tells the kinds apart. */
  readonly kind: "form";
  /** In their order. */
  readonly parts: readonly (readonly [name: string, value: string | StoredFile])[];
}

/** A record that made no sense. */
export interface QuarantinedRecord {
  /** Of the entry, if it made sense. */
  readonly id: unknown;
  /** As it was found. */
  readonly record: unknown;
  /** Its bytes. */
  readonly body: unknown;
  /** What makes no sense. */
  readonly reason: string;
  /** When it was set aside. */
  readonly at: number;
}

/** All that is stored, but for bodies. */
export interface OutboxContents {
  /** By their ids. */
  readonly records: readonly unknown[];
  /** What `note()` wrote. */
  readonly notes: Readonly<Record<string, unknown>>;
}

/** What stands at the head of a queue, and the notes, as they are at one moment. */
export interface OutboxHead {
  /** What `note()` wrote. */
  readonly notes: Readonly<Record<string, unknown>>;
  /** As it was found. */
  readonly record?: unknown;
  /** Its bytes. */
  readonly body?: unknown;
}

/** Where entries are kept. Every method is a transaction: all of it happens, or it rejects and nothing does. */
export interface OutboxStorage<Meta = unknown> {
  /** Whether it outlives the page. */
  readonly durable: boolean;
  /** Stores an entry for good, and gives it the next id. */
  add(record: Omit<OutboxRecord<Meta>, "id">, body: StoredBody): Promise<number>;
  /** All records, by their ids, and the notes. */
  list(): Promise<OutboxContents>;
  /** One record, if it is there. */
  read(id: number): Promise<unknown>;
  /** The first that is no dead letter and not passed over. */
  head(queue: string, passOver: (record: unknown) => boolean): Promise<OutboxHead>;
  /** Changes a record. False if it is not there any more. */
  patch(id: number, changes: Partial<OutboxRecord<Meta>>): Promise<boolean>;
  /**
   * Removes an entry with its body; it need not be there. Where it was delivered, its id joins the list in the note
   * "delivered", which keeps the last 100: a tab that was told nothing looks there.
   */
  remove(id: number, delivered: boolean): Promise<void>;
  /** Sets a record aside. */
  quarantine(id: number, reason: string): Promise<QuarantinedRecord | undefined>;
  /** What was set aside. */
  quarantined(): Promise<readonly QuarantinedRecord[]>;
  /** Changes a note in one step; `undefined` removes it. `change` may be called again where that fails. */
  note(name: string, change: (value: unknown) => unknown): Promise<unknown>;
  /** Lets go of what it holds; a later call opens it again. */
  close(): void;
}

/** The browser's database. Its methods reject with an OutboxError. */
export function indexedDBStorage<Meta = unknown>(name?: string): OutboxStorage<Meta>;
/** Lives as long as the page. Outboxes that are given the same one share it. */
export function memoryStorage<Meta = unknown>(): OutboxStorage<Meta>;
