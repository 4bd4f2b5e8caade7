// The request of a component: which call is under way for it.

import type { RequestHandle, Wanted } from "../../hooks.js";
import type { Call, SteadFetch, SteadInit } from "../../index.js";

export class Requester implements Omit<RequestHandle, "state"> {
  call: Call | undefined;
  private readonly changed_: (call: Call | undefined) => void;
  private client_: SteadFetch | undefined;
  private identity_: string | undefined;
  private left_: boolean | undefined;

  constructor(changed: (call: Call | undefined) => void) {
    this.changed_ = changed;
  }

  /**
   * What asks for it, unless the same was asked for already; what was under way for something else is cancelled.
   * The same is what is equal by value, since components write addresses, headers and bodies anew in each render;
   * functions, signals and bodies that are no text are not compared. That is read here, where a framework may note it;
   * what is returned may run functions of the user's, of which it should not.
   */
  want(client: SteadFetch, input: Wanted, init: SteadInit = {}): () => void {
    const { method, headers, body } = init;
    const given = input as Partial<Request> | null;
    const named = [...new Headers(headers ?? given?.headers)];
    const text = typeof body === "string" && body;
    const identity = JSON.stringify([given?.url ?? String(input), method ?? given?.method, named, text]);
    return () => {
      this.left_ = false;
      if (client === this.client_ && identity === this.identity_) return;
      this.call?.cancel();
      this.client_ = client;
      this.identity_ = identity;
      this.changed_((this.call = input ? client.start(input, init) : undefined));
    };
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
