// What start() gives: the promise, the store and the buttons of one call.
import type { Call, CallState } from "../index.js";
import { NAME, observable, SYMBOL } from "./observable.ts";
import { tell } from "./report.ts";
import type { Run } from "./run.ts";

const calls = new WeakMap<Run, Call>();

/** The call that a run is the inside of. */
export function callOf(run: Run): Call {
  let call = calls.get(run);
  // Whether the symbol of Observables is among its names depends on the page.
  if (!call) calls.set(run, (call = new SteadCall(run) as Partial<Call> as Call));
  return call;
}

class SteadCall implements Omit<Call, typeof Symbol.observable> {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
    run.kept_ = true;
  }

  /** Vue leaves it as it is, also in a deep ref: a proxy of it is no call. */
  get __v_skip(): true {
    return true;
  }

  get id(): number {
    return this.#run.id_;
  }

  get request(): { readonly method: string; readonly url: string } {
    return { method: this.#run.method_, url: this.#run.url_ };
  }

  get state(): CallState {
    return this.#run.state_;
  }

  get response(): Promise<Response> {
    return this.#run.response_;
  }

  readonly getSnapshot = (): CallState => this.#run.state_;

  readonly subscribe = (listener: (state: CallState) => void): (() => void) => {
    const run = this.#run;
    const off = run.listeners_.add_(listener);
    tell(listener, run.state_);
    return off;
  };

  readonly retryNow = (): boolean => this.#run.retryNow_();

  readonly retry = (): Promise<Response> => {
    this.#run.retry_();
    return this.#run.response_;
  };

  readonly cancel = (reason?: unknown): void => {
    this.#run.cancel_(reason === undefined ? new DOMException("The call was cancelled", "AbortError") : reason);
  };

  // biome-ignore lint/suspicious/noThenProperty: a call is awaited like the promise of fetch.
  then<A = Response, B = never>(
    fulfilled?: ((response: Response) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#run.response_.then(fulfilled, rejected);
  }

  /** Every state from the present one to the end of the run; of a countdown, the latest. */
  [Symbol.asyncIterator](): AsyncIterableIterator<CallState, undefined> {
    type Result = IteratorResult<CallState, undefined>;
    const run = this.#run;
    const states: CallState[] = [];
    const readers: ((result: Result) => void)[] = [];
    const end: Result = { done: true, value: undefined };
    let over = false;
    const stop = (): Result => {
      over = true;
      off();
      for (const read of readers.splice(0)) read(end);
      return end;
    };
    const off = this.subscribe((state) => {
      const read = readers.shift();
      if (read) {
        read({ done: false, value: state });
        if (!run.pending_) stop();
        return;
      }
      const last = states[states.length - 1];
      if (last?.status === state.status && last.attempt === state.attempt) states.pop();
      states.push(state);
    });
    return {
      async next() {
        const state = over ? undefined : states.shift();
        if (state) return { done: false, value: state };
        if (over || !run.pending_) return stop();
        return new Promise<Result>((read) => readers.push(read));
      },
      async return() {
        return stop();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  [NAME]() {
    return observable(this.subscribe);
  }

  [SYMBOL]() {
    return observable(this.subscribe);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}
