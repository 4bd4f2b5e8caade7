// The store of a page that has no other, and of tests.
import type { OutboxHead, OutboxRecord, OutboxStorage, QuarantinedRecord, StoredBody } from "../outbox.js";
import { DELIVERED, withDelivered } from "./delivered.ts";

export function memoryStorage<Meta = unknown>(): OutboxStorage<Meta> {
  return new Memory() as unknown as OutboxStorage<Meta>;
}

class Memory implements OutboxStorage {
  readonly durable = false;
  private last_ = 0;
  private readonly records_ = new Map<number, OutboxRecord>();
  private readonly bodies_ = new Map<number, StoredBody>();
  private readonly notes_ = new Map<string, unknown>();
  private readonly quarantine_: QuarantinedRecord[] = [];

  async add(record: Omit<OutboxRecord, "id">, body: StoredBody): Promise<number> {
    const id = ++this.last_;
    this.records_.set(id, { ...record, id });
    this.bodies_.set(id, body);
    return id;
  }

  async list() {
    return { records: [...this.records_.values()], notes: Object.fromEntries(this.notes_) };
  }

  async read(id: number): Promise<unknown> {
    return this.records_.get(id);
  }

  async head(queue: string, passOver: (record: unknown) => boolean): Promise<OutboxHead> {
    const notes = Object.fromEntries(this.notes_);
    for (const record of this.records_.values()) {
      if (record.queue !== queue || record.dead || passOver(record)) continue;
      return { notes, record, body: this.bodies_.get(record.id) };
    }
    return { notes };
  }

  async patch(id: number, changes: Partial<OutboxRecord>): Promise<boolean> {
    const record = this.records_.get(id);
    if (record) this.records_.set(id, { ...record, ...changes });
    return !!record;
  }

  async remove(id: number, delivered: boolean): Promise<void> {
    this.records_.delete(id);
    this.bodies_.delete(id);
    if (delivered) this.notes_.set(DELIVERED, withDelivered(this.notes_.get(DELIVERED), id));
  }

  async quarantine(id: number, reason: string): Promise<QuarantinedRecord | undefined> {
    const record = this.records_.get(id);
    if (!record) return;
    const set = { id, record, body: this.bodies_.get(id), reason, at: Date.now() };
    this.quarantine_.push(set);
    await this.remove(id, false);
    return set;
  }

  async quarantined(): Promise<readonly QuarantinedRecord[]> {
    return [...this.quarantine_];
  }

  async note(name: string, change: (value: unknown) => unknown): Promise<unknown> {
    const value = change(this.notes_.get(name));
    if (value === undefined) this.notes_.delete(name);
    else this.notes_.set(name, value);
    return value;
  }

  close(): void {}
}
