// A store apart from its countdown: a framework renders anew for another state, and for a tick only where somebody
// reads `remaining`.

/** What a call, the circuits and a client are. */
export interface Store<T> {
  /** Calls at once with the present value, then on each change. */
  readonly subscribe: (listener: (value: T) => void) => () => void;
  /** The same object until it changes. */
  readonly getSnapshot: () => T;
}

// biome-ignore lint/suspicious/noExplicitAny: a state, a list of circuits, or a client's snapshot
type Value = any;

/** Whether nothing but countdowns differs. What is ours is frozen; of all else there is no telling. */
export function alike(a: Value, b: Value): boolean {
  const names = Object.keys(Object(a));
  return (
    a === b ||
    (Object(a) === a &&
      Object.isFrozen(a) &&
      names.length === Object.keys(Object(b)).length &&
      names.every((name) => name === "remaining" || alike(a[name], b[name])))
  );
}

/** A copy of what `now` gives, whose countdowns are those of the moment they are read. */
export function live(now: () => Value, read: () => void): Value {
  const value = now();
  if (value.map) return value.map((_: Value, i: number) => live(() => now()[i], read));
  if (value.openCircuits) return { ...value, openCircuits: live(() => now().openCircuits, read) };
  if (!("remaining" in value)) return value;
  return {
    ...value,
    get remaining() {
      read();
      return now().remaining;
    },
  };
}

/**
 * What a store has, as an object that stays the same while only countdowns move. `look` is true after a tick, and
 * false after anything else that is new; `read` is called when a countdown is.
 */
export function view<T>(store: Store<T>, read: () => void) {
  let last: { of: T };
  let value: T;
  const renew = (): void => {
    const now = (last = { of: store.getSnapshot() });
    value = live(() => now.of, read);
  };
  renew();
  return {
    get_: (): T => value,
    renew_: renew,
    look_(): boolean | undefined {
      const now = store.getSnapshot();
      if (now === last.of) return;
      const tick = alike(now, last.of);
      if (tick) last.of = now;
      else renew();
      return tick;
    },
  };
}
