// Signals for Angular.
import { afterNextRender, DestroyRef, effect, Injector, inject, type Signal, signal, untracked } from "@angular/core";
import type * as Api from "../angular.js";
import type { Call } from "../index.js";
import { follow } from "./lib/follow.ts";
import { callStore, makeRequester } from "./lib/requester.ts";
import { IDLE, mustBeStore, NO_CALLS, NONE } from "./lib/stores.ts";
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
  const requester = makeRequester(call.set);
  whenRendered(() => {
    const ask = requester.want_(client(), input(), init?.());
    untracked(ask);
  });
  inject(DestroyRef).onDestroy(() => requester.leave_());
  return { state: injectStore(() => requester.store_, IDLE), call: call.asReadonly(), ...requester.actions_ };
};

export const injectCircuits: typeof Api.injectCircuits = (client) =>
  injectStore(() => mustBeStore(client()?.circuits), NONE);

export const injectClient: typeof Api.injectClient = (client) => injectStore(() => mustBeStore(client()), NO_CALLS);

export const injectOutbox: typeof Api.injectOutbox = (outbox) =>
  injectStore(() => mustBeStore(outbox()), outbox().getServerSnapshot());
