// Callers' signals: one listener per signal however many calls it has, and none when they are over.
import type { Run } from "./run.ts";

const watched = new WeakMap<AbortSignal, Set<Run>>();

function aborted(this: AbortSignal): void {
  const runs = watched.get(this);
  watched.delete(this);
  this.removeEventListener("abort", aborted);
  for (const run of runs ?? []) run.cancel_(this.reason);
}

export function watch(signal: AbortSignal, run: Run): void {
  let runs = watched.get(signal);
  if (!runs) {
    watched.set(signal, (runs = new Set()));
    signal.addEventListener("abort", aborted);
  }
  runs.add(run);
}

export function unwatch(signal: AbortSignal, run: Run): void {
  const runs = watched.get(signal);
  if (runs?.delete(run) && !runs.size) {
    watched.delete(signal);
    signal.removeEventListener("abort", aborted);
  }
}

let ended: FinalizationRegistry<() => void> | undefined;

/** Where signals cannot be tied together: lets `signal` abort the body of a response for as long as someone has it. */
export function follow(signal: AbortSignal, abort: (reason: unknown) => void, response: Response): void {
  const listener = (): void => abort(signal.reason);
  signal.addEventListener("abort", listener);
  ended ??= new FinalizationRegistry((off) => off());
  ended.register(response, () => signal.removeEventListener("abort", listener));
}

/** Whether the platform can tie signals together so that the body of a response hears the caller's too. */
export const combines = (): boolean => "any" in AbortSignal;
