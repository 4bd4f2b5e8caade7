// The store in the browser's database.
import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { OutboxHead, OutboxRecord, OutboxStorage, QuarantinedRecord, StoredBody } from "../outbox.js";
import { DELIVERED, withDelivered } from "./delivered.ts";
import { OutboxError, storageError } from "./error.ts";
import { point } from "./point.ts";

/** Of the layout below: who changes it counts on, and moves over what there is in `upgrade`. */
const VERSION = 1;

interface Schema extends DBSchema {
  /** By the ids of their bodies. */
  entries: { key: number; value: OutboxRecord<unknown>; indexes: { queue: [string, number] } };
  /** By ids that grow, which their entries have as well: a list of these need not read them. */
  bodies: { key: number; value: StoredBody };
  notes: { key: string; value: unknown };
  quarantine: { key: number; value: QuarantinedRecord };
}
const STORES = ["bodies", "entries", "notes", "quarantine"] as const;

export function indexedDBStorage<Meta = unknown>(name = "default"): OutboxStorage<Meta> {
  return new Database(`steadfetch-outbox ${name}`) as unknown as OutboxStorage<Meta>;
}

class Database implements OutboxStorage {
  readonly durable = true;
  private readonly name_: string;
  private open_: Promise<IDBPDatabase<Schema>> | undefined;

  constructor(name: string) {
    this.name_ = name;
  }

  add(record: Omit<OutboxRecord, "id">, body: StoredBody): Promise<number> {
    return this.do_(async (db) => {
      // Until it is on the disk, and not only on its way: a battery may die.
      const tx = db.transaction(["entries", "bodies"], "readwrite", { durability: "strict" });
      const [id] = await inOne(tx, async () => {
        // The body first: Firefox keeps the half of a transaction whose page is closed in its middle.
        const id = await tx.objectStore("bodies").add(body);
        point("body-added");
        await tx.objectStore("entries").add({ ...record, id });
        point("entry-added");
        return id;
      });
      return id;
    });
  }

  list() {
    return this.do_(async (db) => {
      const tx = db.transaction(["entries", "notes"]);
      const [records, notes] = await Promise.all([
        tx.objectStore("entries").getAll(),
        notesOf(tx.objectStore("notes")),
      ]);
      return { records, notes };
    });
  }

  read(id: number): Promise<unknown> {
    return this.do_((db) => db.get("entries", id));
  }

  head(queue: string, passOver: (record: unknown) => boolean): Promise<OutboxHead> {
    return this.do_(async (db) => {
      const tx = db.transaction(["entries", "bodies", "notes"]);
      const notes = await notesOf(tx.objectStore("notes"));
      const only = IDBKeyRange.only([queue, 0]);
      let cursor = await tx.objectStore("entries").index("queue").openCursor(only);
      while (cursor && passOver(cursor.value)) cursor = await cursor.continue();
      if (!cursor) return { notes };
      const body = await tx.objectStore("bodies").get(cursor.primaryKey);
      return { notes, record: cursor.value, body: body ?? { kind: "none" } };
    });
  }

  patch(id: number, changes: Partial<OutboxRecord>): Promise<boolean> {
    return this.do_(async (db) => {
      const tx = db.transaction("entries", "readwrite");
      const [there] = await inOne(tx, async () => {
        const record = await tx.store.get(id);
        if (record) await tx.store.put({ ...record, ...changes });
        return !!record;
      });
      return there;
    });
  }

  remove(id: number, delivered: boolean): Promise<void> {
    return this.do_(async (db) => {
      const tx = db.transaction(["entries", "bodies", "notes"], "readwrite");
      await inOne(tx, async () => {
        const notes = tx.objectStore("notes");
        // Read first: nobody would look at what else fails meanwhile.
        const noted = delivered ? withDelivered(await notes.get(DELIVERED), id) : undefined;
        await Promise.all([
          tx.objectStore("entries").delete(id),
          tx.objectStore("bodies").delete(id),
          noted && notes.put(noted, DELIVERED),
        ]);
      });
    });
  }

  quarantine(id: number, reason: string): Promise<QuarantinedRecord | undefined> {
    return this.do_(async (db) => {
      const tx = db.transaction(["entries", "bodies", "quarantine"], "readwrite");
      const [set] = await inOne(tx, async () => {
        const [entries, bodies] = [tx.objectStore("entries"), tx.objectStore("bodies")];
        const [record, body] = await Promise.all([entries.get(id), bodies.get(id)]);
        if (record === undefined) return;
        const set = { id, record, body, reason, at: Date.now() };
        await Promise.all([tx.objectStore("quarantine").put(set, id), entries.delete(id), bodies.delete(id)]);
        return set;
      });
      return set;
    });
  }

  quarantined(): Promise<readonly QuarantinedRecord[]> {
    return this.do_((db) => db.getAll("quarantine"));
  }

  note(name: string, change: (value: unknown) => unknown): Promise<unknown> {
    return this.do_(async (db) => {
      const tx = db.transaction("notes", "readwrite");
      const [value] = await inOne(tx, async () => {
        const before = await tx.store.get(name);
        const after = change(before);
        if (after === undefined) await tx.store.delete(name);
        else if (after !== before) await tx.store.put(after, name);
        return after;
      });
      return value;
    });
  }

  close(): void {
    this.open_?.then((db) => db.close()).catch(() => {});
    this.open_ = undefined;
  }

  /** A connection that the browser has closed is opened anew, once. */
  private async do_<T>(act: (db: IDBPDatabase<Schema>) => Promise<T>): Promise<T> {
    try {
      const db = await this.there_();
      try {
        return await act(db);
      } catch (error) {
        // It was closed between, and nothing has begun.
        if ((error as Error)?.name !== "InvalidStateError") throw error;
        this.forget_(db);
        return await act(await this.there_());
      }
    } catch (error) {
      throw storageError(error);
    }
  }

  private there_(): Promise<IDBPDatabase<Schema>> {
    if (!this.open_) {
      const open = (this.open_ = this.begin_());
      open.catch(() => {
        if (this.open_ === open) this.open_ = undefined;
      });
    }
    return this.open_;
  }

  private forget_(db: IDBPDatabase<Schema>): void {
    db.close();
    this.open_ = undefined;
  }

  private async begin_(): Promise<IDBPDatabase<Schema>> {
    const { name_: name } = this;
    if (!globalThis.indexedDB) throw new OutboxError("storage-denied", "there is no IndexedDB here");
    const foreign = () => new OutboxError("foreign-database", `the database "${name}" is not of this package`);
    let alien = false;
    let db: IDBPDatabase<Schema>;
    try {
      db = await openDB<Schema>(name, VERSION, {
        upgrade(db, from, _to, tx) {
          if (from > 0 || db.objectStoreNames.length) {
            alien = true;
            tx.abort();
            return;
          }
          db.createObjectStore("entries", { keyPath: "id" }).createIndex("queue", ["queue", "dead"]);
          db.createObjectStore("bodies", { autoIncrement: true });
          for (const store of ["notes", "quarantine"] as const) db.createObjectStore(store);
        },
        // A newer release wants to change it, or someone to delete it.
        blocking: (_from, _to, event) => this.forget_(event.target as unknown as IDBPDatabase<Schema>),
        terminated: () => {
          this.open_ = undefined;
        },
      });
    } catch (error) {
      if (alien) throw foreign();
      if ((error as Error)?.name !== "VersionError") throw denied(error);
      throw new OutboxError("newer-version", "another tab has a newer release, this page has to be reloaded", error);
    }
    const stores = [...db.objectStoreNames].join();
    if (stores === STORES.join()) return db;
    db.close();
    throw foreign();
  }
}

/** What a database that does not open throws: private modes have many words for it. */
function denied(error: unknown): unknown {
  const { name } = Object(error) as Partial<Error>;
  if (name === "QuotaExceededError") return error;
  return new OutboxError("storage-denied", `the browser refuses storage here (${error})`, error);
}

async function notesOf(store: {
  getAllKeys(): Promise<string[]>;
  getAll(): Promise<unknown[]>;
}): Promise<Record<string, unknown>> {
  const [names, values] = await Promise.all([store.getAllKeys(), store.getAll()]);
  return Object.fromEntries(names.map((name, place) => [name, values[place]]));
}

/** Done when all of it is; where anything fails, nothing of it is. */
async function inOne<T>(tx: { readonly done: Promise<void>; abort(): void }, act: () => Promise<T>): Promise<[T]> {
  // It is looked at below, after what failed first.
  tx.done.catch(() => {});
  let result: T;
  try {
    result = await act();
  } catch (error) {
    try {
      tx.abort();
    } catch {
      // It is over.
    }
    throw error;
  }
  point("committing");
  await tx.done;
  point("committed");
  return [result];
}
