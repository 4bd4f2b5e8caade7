/** Tells about what a listener threw, which is nobody else's business. */
function report(error: unknown): void {
  try {
    if (typeof reportError === "function") reportError(error);
    else console.error(error);
  } catch (thrown) {
    // A page, or its tests, may make an error of each report; what was under way goes on.
    queueMicrotask(() => {
      throw thrown;
    });
  }
}

/** Calls a listener whose errors change nothing. */
export function tell<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    report(error);
  }
}

/** Anything with a `then` is waited for. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";

export function mustBeFunction<T>(value: T, name: string): T {
  if (typeof value !== "function") throw new TypeError(`steadfetch: ${name} must be a function`);
  return value;
}

/** The listeners of a store. */
export class Listeners<T> {
  private readonly all_ = new Set<{ tell_: (value: T) => void }>();
  private readonly watched_: (watched: boolean) => void;

  /** `watched` is told when the first one comes and when the last one goes. */
  constructor(watched: (watched: boolean) => void) {
    this.watched_ = watched;
  }

  get some_(): boolean {
    return this.all_.size > 0;
  }

  /** Each call adds one, even of the same function; what it returns takes that one off. */
  add_(listener: (value: T) => void): () => void {
    mustBeFunction(listener, "listener");
    const entry = { tell_: (value: T) => tell(listener, value) };
    if (!this.some_) this.watched_(true);
    this.all_.add(entry);
    return () => {
      if (this.all_.delete(entry) && !this.some_) this.watched_(false);
    };
  }

  /** One that is taken off meanwhile is told no more, one that is added meanwhile not yet. */
  tell_(value: T): void {
    for (const entry of [...this.all_]) if (this.all_.has(entry)) entry.tell_(value);
  }
}

/** A store of what `get` gives: its listeners hear at once, and then each time it is another. */
export function storeOf<T>(listeners: Listeners<void>, get: () => T) {
  return {
    getSnapshot: get,
    subscribe: (listener: (value: T) => void): (() => void) => {
      mustBeFunction(listener, "listener");
      let last: T | undefined;
      const look = (): void => {
        const now = get();
        if (now !== last) listener((last = now));
      };
      const off = listeners.add_(look);
      tell(look, undefined);
      return off;
    },
  };
}
