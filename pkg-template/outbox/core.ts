// The part of the core that decides for an outbox: a wasm of its own, loaded as that of the client is.
import { core, isRefused, onItsWay } from "../src/core.ts";

/** What src/web/outbox.rs exports. */
export interface OutboxCore {
  readonly memory: { readonly buffer: ArrayBuffer };
  outbox(
    high: number,
    low: number,
    mono: number,
    wall: number,
    maxAge: number,
    maxEntries: number,
    maxBytes: number,
    stop: boolean,
  ): number;
  outbox_room(outbox: number, bytes: number): number;
  outbox_row(outbox: number): number;
  outbox_at(outbox: number, mono: number, wall: number): void;
  outbox_admit(outbox: number, bytes: number): number;
  outbox_add(
    outbox: number,
    queue: number,
    id: number,
    bytes: number,
    created: number,
    notBefore: number,
    delay: number,
    rejected: boolean,
  ): number;
  outbox_removed(outbox: number, slot: number, change: number): void;
  outbox_marked(outbox: number, slot: number, rejected: boolean): void;
  outbox_noted(outbox: number, slot: number, notBefore: number, delay: number): void;
  outbox_sender(outbox: number, sender: boolean, abort: boolean): void;
  outbox_paused(outbox: number, paused: boolean): void;
  outbox_looked(outbox: number, slot: number, token: number, look: number): void;
  outbox_phase(outbox: number, slot: number, token: number, phase: number, until: number): void;
  outbox_ended(outbox: number, slot: number, token: number, status: number, until: number): void;
  outbox_wrote(outbox: number, slot: number, token: number, written: boolean): void;
  outbox_cancel(outbox: number, slot: number): number;
  outbox_retry_now(outbox: number, slot: number): number;
  outbox_flush(outbox: number): void;
  outbox_wake(outbox: number): void;
  outbox_quiet(outbox: number): number;
  outbox_lease(whose: number, until: number, wall: number): number;
  outbox_next(outbox: number): number;
}

const present = (): OutboxCore => core() as unknown as OutboxCore;

/** The core, or its stand-in once that is there. */
export async function whenThere(): Promise<OutboxCore> {
  try {
    return present();
  } catch (error) {
    if (!isRefused(error)) throw error;
    await onItsWay();
    return present();
  }
}
