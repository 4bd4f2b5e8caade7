// Callers' signals: one listener per signal however many calls it has, and none when they are over.

interface Watcher {
  cancel_(reason: unknown, queued: boolean): void;
}

const watched = new WeakMap<AbortSignal, Set<Watcher>>();

function aborted(this: AbortSignal): void {
  const watchers = watched.get(this);
  watched.delete(this);
  this.removeEventListener("abort", aborted);
  if (watchers) cancelAll(watchers, this.reason);
}

/** Those that wait for their circuit first: else one would be sent in the place of another that has just gone. */
export function cancelAll(watchers: Iterable<Watcher>, reason: unknown): void {
  for (const queued of [true, false]) for (const watcher of watchers) watcher.cancel_(reason, queued);
}

export function watch(signal: AbortSignal, watcher: Watcher): void {
  let watchers = watched.get(signal);
  if (!watchers) {
    watched.set(signal, (watchers = new Set()));
    signal.addEventListener("abort", aborted);
  }
  watchers.add(watcher);
}

export function unwatch(signal: AbortSignal, watcher: Watcher): void {
  const watchers = watched.get(signal);
  if (watchers?.delete(watcher) && !watchers.size) {
    watched.delete(signal);
    signal.removeEventListener("abort", aborted);
  }
}

/** What the body of a response is aborted by, for as long as someone has the response or its body. */
const controllers = new WeakMap<object, AbortController>();
let ended: FinalizationRegistry<() => void> | undefined;

/** Where signals cannot be tied together: lets `signal` abort the body of a response for as long as someone has it. */
export function follow(signal: AbortSignal, controller: AbortController, response: Response): void {
  controllers.set(response, controller);
  if (response.body) controllers.set(response.body, controller);
  // A signal that lives on must not hold what is long over.
  const held = new WeakRef(controller);
  const watcher: Watcher = { cancel_: (reason) => held.deref()?.abort(reason) };
  watch(signal, watcher);
  ended ??= new FinalizationRegistry((off) => off());
  ended.register(controller, () => unwatch(signal, watcher));
}

/** Whether the platform can tie signals together so that the body of a response hears the caller's too. */
export const combines = (): boolean => typeof AbortSignal.any === "function";
