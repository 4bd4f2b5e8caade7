// Which tab sends: whoever has the lock of the outbox, or where there are no Web Locks the lease in its store. The
// browser gives the lock of a tab that is gone to the next one; a lease ends by itself.
import { uuid } from "../src/random.ts";
import { point } from "./point.ts";

/** When a lease of ten seconds is renewed, or asked for again. */
const EACH = 3_000;
const NOTE = "lease";

/** Changes the note in one step. */
type Note = (name: string, change: (value: unknown) => unknown) => Promise<unknown>;
/** The end of the lease if it may be taken, else NaN: `whose` is 0 another's, 1 this tab's, 2 nobody's. */
type Take = (whose: number, until: number) => number;

export class Sender {
  private readonly name_: string;
  private readonly note_: Note;
  private readonly take_: Take;
  private readonly changed_: (sender: boolean) => void;
  /** This tab, among those that want the lease. */
  private readonly me_ = uuid();
  private leases_: boolean;
  private is_ = false;
  private running_ = false;
  private release_: (() => void) | undefined;
  private timer_: ReturnType<typeof setTimeout> | undefined;

  /** `leases`: there is nobody but who shares the store, as where that is the memory of the page. */
  constructor(name: string, leases: boolean, note: Note, take: Take, changed: (sender: boolean) => void) {
    this.name_ = name;
    this.leases_ = leases;
    this.note_ = note;
    this.take_ = take;
    this.changed_ = changed;
  }

  /** Wants to be the one. */
  start_(): void {
    if (this.running_) return;
    this.running_ = true;
    const locks = globalThis.navigator?.locks;
    if (locks && !this.leases_) this.lock_(locks);
    else this.lease_();
  }

  /** Lets another tab have it. */
  async stop_(): Promise<void> {
    if (!this.running_) return;
    this.running_ = false;
    clearTimeout(this.timer_);
    this.release_?.();
    this.release_ = undefined;
    const had = this.is_;
    this.set_(false);
    if (!this.leases_ || !had) return;
    const free = (value: unknown) => (whoseIs(value) === this.me_ ? undefined : value);
    await this.note_(NOTE, free).catch(() => {});
  }

  /** Whether what the store says does not speak against it. */
  holds_(notes: Readonly<Record<string, unknown>>): boolean {
    if (!this.leases_) return this.is_;
    if (whoseIs(notes[NOTE]) !== this.me_) this.set_(false);
    return this.is_;
  }

  private set_(is: boolean): void {
    if (is === this.is_) return;
    this.is_ = is;
    this.changed_(is);
  }

  private lock_(locks: LockManager): void {
    const controller = new AbortController();
    let over = false;
    const ended = new Promise<void>((resolve) => {
      this.release_ = () => {
        over = true;
        resolve();
        controller.abort();
      };
    });
    const held = (): Promise<void> | undefined => {
      if (over) return;
      this.set_(true);
      return ended;
    };
    const lost = (): void => {
      if (over) return;
      // It was stolen; or there are no locks for this origin.
      const had = this.is_;
      this.set_(false);
      if (had) this.lock_(locks);
      else this.lease_();
    };
    try {
      locks.request(`steadfetch-outbox ${this.name_}`, { signal: controller.signal }, held).catch(lost);
    } catch {
      lost();
    }
  }

  private async lease_(): Promise<void> {
    this.leases_ = true;
    let until = Number.NaN;
    try {
      point("leasing");
      const lease = await this.note_(NOTE, (value) => {
        const holder = whoseIs(value);
        const whose = holder === undefined ? 2 : Number(holder === this.me_);
        until = this.take_(whose, (value as { until: number })?.until);
        return Number.isNaN(until) ? value : { holder: this.me_, until };
      });
      point("leased");
      if (whoseIs(lease) !== this.me_) until = Number.NaN;
    } catch {
      until = Number.NaN;
    }
    if (!this.running_) return;
    this.set_(!Number.isNaN(until));
    clearTimeout(this.timer_);
    this.timer_ = setTimeout(() => this.lease_(), EACH);
    (this.timer_ as { unref?: () => void }).unref?.();
  }
}

/** Who has the lease; undefined if what is there is none. */
function whoseIs(value: unknown): string | undefined {
  const { holder, until } = Object(value) as { holder?: unknown; until?: unknown };
  return typeof holder === "string" && typeof until === "number" ? holder : undefined;
}
