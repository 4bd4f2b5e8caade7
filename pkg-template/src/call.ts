// What start() gives: the promise, the store and the buttons of one call.
import type { Call, CallState, SteadInit } from "../index.js";
import type { Owner } from "./owner.ts";
import { tell } from "./report.ts";
import { Run } from "./run.ts";

export class SteadCall implements Call {
  readonly #run: Run;
  #response!: Promise<Response>;

  constructor(owner: Owner, input: RequestInfo | URL, init: SteadInit | undefined) {
    this.#run = new Run(owner, input, init, true);
    this.#begin(() => this.#run.start_(1));
  }

  #begin(start: () => void): void {
    this.#response = new Promise((resolve, reject) => {
      this.#run.resolve_ = resolve;
      this.#run.reject_ = reject;
    });
    // Nobody has to look at it: the state tells the same.
    this.#response.catch(() => {});
    start();
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
    return this.#response;
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
    const run = this.#run;
    if (run.pending_) run.retry_();
    else this.#begin(() => run.retry_());
    return this.#response;
  };

  readonly cancel = (reason?: unknown): void => {
    this.#run.cancel_(reason === undefined ? new DOMException("The call was cancelled", "AbortError") : reason);
  };

  // biome-ignore lint/suspicious/noThenProperty: a call is awaited like the promise of fetch.
  then<A = Response, B = never>(
    fulfilled?: ((response: Response) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#response.then(fulfilled, rejected);
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

  [Symbol.dispose](): void {
    this.cancel();
  }
}
