// The timers of the virtual clock: what is set, and which is next.

/** Platforms keep a delay in a signed 32-bit number, and take a longer one for the shortest. */
const LONGEST = 0x7fff_ffff;
/** Far from the ids of real timers, which a page may still clear. */
const FIRST_ID = 1_000_000_000;

type Callback = (...args: unknown[]) => void;

/** What Node gives for a timer; browsers give its number. */
export class Timer {
  at_ = 0;
  readonly id_: number;
  readonly call_: () => void;
  readonly every_: number | undefined;
  private readonly set_: (timer: Timer) => void;
  private readonly clear_: (timer: Timer) => void;
  private ref_ = true;

  constructor(
    id: number,
    call: () => void,
    every: number | undefined,
    set: (timer: Timer) => void,
    clear: (timer: Timer) => void,
  ) {
    this.id_ = id;
    this.call_ = call;
    this.every_ = every;
    this.set_ = set;
    this.clear_ = clear;
  }

  ref(): this {
    this.ref_ = true;
    return this;
  }

  unref(): this {
    this.ref_ = false;
    return this;
  }

  hasRef(): boolean {
    return this.ref_;
  }

  refresh(): this {
    this.set_(this);
    return this;
  }

  close(): this {
    this.clear_(this);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.id_;
  }

  [Symbol.dispose](): void {
    this.clear_(this);
  }
}

export class Timers {
  /** In the order in which they were set, which decides among those that are due together. */
  private readonly set_ = new Map<number, Timer>();
  private lastId_ = FIRST_ID;
  private readonly now_: () => number;

  constructor(now: () => number) {
    this.now_ = now;
  }

  get count_(): number {
    return this.set_.size;
  }

  add_(callback: unknown, ms: unknown, args: unknown[], repeats: boolean): Timer {
    // A browser takes text for code; that is no way to write a test.
    if (typeof callback !== "function") throw new TypeError("The callback of a timer must be a function");
    const given = Number(ms);
    const delay = given > 0 && given <= LONGEST ? given : given > LONGEST ? 1 : 0;
    const every = repeats ? Math.max(1, delay) : undefined;
    const set = (timer: Timer): void => {
      this.set_.delete(timer.id_);
      timer.at_ = this.now_() + (every ?? delay);
      this.set_.set(timer.id_, timer);
    };
    const call = (): void => (callback as Callback)(...args);
    const timer = new Timer(++this.lastId_, call, every, set, (timer) => this.delete_(timer.id_));
    set(timer);
    return timer;
  }

  /** False if it is none of these. */
  delete_(id: unknown): boolean {
    return this.set_.delete(Number(id));
  }

  /** Takes out the one that is due first, if it is until then; one that repeats is set anew. */
  next_(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.set_.values()) if (timer.at_ <= until && (!next || timer.at_ < next.at_)) next = timer;
    if (next) this.set_.delete(next.id_);
    return next;
  }
}
