// What libraries with signals do with a store: a signal for what it has, and another for its ticks.
import { alike, live, type Store } from "./view.ts";

/**
 * `set` is given a value when it is another than the last one, and `tick` called when only a countdown has moved; `read`
 * is called when somebody reads a countdown. Returns what ends it.
 */
export function follow<T>(store: Store<T>, set: (value: T) => void, tick: () => void, read: () => void): () => void {
  let last: { of: T } | undefined;
  return store.subscribe((now) => {
    if (last && alike(now, last.of)) {
      last.of = now;
      tick();
    } else {
      const kept = { of: now };
      last = kept;
      set(live(() => kept.of, read));
    }
  });
}
