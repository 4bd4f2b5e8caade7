// Signals for Angular.
import { afterNextRender, DestroyRef, effect, Injector, inject, type Signal, signal, untracked } from "@angular/core";
import type * as Api from "../angular.js";
import type { Call } from "../index.js";
import { follow } from "./lib/follow.ts";
import { Requester } from "./lib/requester.ts";
import { callStore, IDLE, mustBeStore, NO_CALLS, NO_CIRCUITS } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

/** Runs anew when a signal changes that `run` reads; not on a server, and not before its markup has been taken over. */
function whenRendered(run: (onCleanup: (end: () => void) => void) => void): void {
  const injector = inject(Injector);
  afterNextRender(() => effect(run, { injector }));
}

function injectStore<T>(store: () => Store<T>, server: T): Signal<T> {
  const value = signal(server);
  const ticks = signal({});
  whenRendered((onCleanup) => {
    onCleanup(follow(store(), value.set, () => ticks.set({}), ticks));
  });
  return value.asReadonly();
}

export const injectCall: typeof Api.injectCall = (call) => injectStore(() => callStore(call()), IDLE);

export const injectRequest: typeof Api.injectRequest = (client, input, init) => {
  const call = signal<Call | undefined>(undefined);
  const requester = new Requester(call.set);
  whenRendered(() => {
    const ask = requester.want(client(), input(), init?.());
    untracked(ask);
  });
  inject(DestroyRef).onDestroy(() => requester.leave());
  const { retryNow, retry, cancel } = requester;
  return { state: injectCall(call), call: call.asReadonly(), retryNow, retry, cancel };
};

export const injectCircuits: typeof Api.injectCircuits = (client) =>
  injectStore(() => mustBeStore(client()?.circuits), NO_CIRCUITS);

export const injectClient: typeof Api.injectClient = (client) => injectStore(() => mustBeStore(client()), NO_CALLS);
