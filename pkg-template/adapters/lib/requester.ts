// The request of a component: which call is under way for it.
import type { Call, SteadFetch, SteadInit } from "../../index.js";
import type { RequestHandle, Wanted } from "../../react.js";

/**
 * What makes a request another one, by value: components write addresses, headers and bodies anew in each render.
 * Functions, signals and bodies that are no text are not compared.
 */
function identity(input: RequestInfo | URL, { method, headers, body }: SteadInit): string {
  const given = input as Partial<Request>;
  const named = [...new Headers(headers ?? given.headers)];
  return JSON.stringify([given.url ?? String(input), method ?? given.method, named, typeof body === "string" && body]);
}

export class Requester implements Omit<RequestHandle, "state"> {
  call: Call | undefined;
  private readonly changed_: (call: Call | undefined) => void;
  private client_: SteadFetch | undefined;
  private identity_: string | undefined;
  private left_ = false;

  constructor(changed: (call: Call | undefined) => void) {
    this.changed_ = changed;
  }

  /** Asks, unless the same was asked for already. What was under way for something else is cancelled. */
  load(client: SteadFetch, input: Wanted, init: SteadInit = {}): void {
    const now = input ? identity(input, init) : "";
    this.left_ = false;
    if (client === this.client_ && now === this.identity_) return;
    this.call?.cancel();
    this.client_ = client;
    this.identity_ = now;
    this.changed_((this.call = input ? client.start(input, init) : undefined));
  }

  /** Cancels, unless the component is back in the same turn. */
  leave(): void {
    this.left_ = true;
    queueMicrotask(() => {
      if (!this.left_) return;
      this.call?.cancel();
      this.client_ = undefined;
    });
  }

  readonly retryNow = (): boolean => !!this.call?.retryNow();

  readonly retry = (): void => {
    this.call?.retry();
  };

  readonly cancel = (reason?: unknown): void => this.call?.cancel(reason);
}
