// Reactive values for Svelte 5. A call is a store for `$call` as it is.
import { onMount, untrack } from "svelte";
import { createSubscriber } from "svelte/reactivity";
import { fromStore, toStore, writable } from "svelte/store";
import type { Call } from "../index.js";
import type * as Api from "../svelte.js";
import { follow } from "./lib/follow.ts";
import { callStore, makeRequester } from "./lib/requester.ts";
import { mustBeStore } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

/** Looks at a store while something reactive reads it. */
function reactive<T>(store: () => Store<T>): { readonly current: T } {
  let followed: Store<T> | undefined;
  let value: T;
  let off: (() => void) | undefined;
  let tell: (() => void) | undefined;
  let tick: (() => void) | undefined;
  const values = createSubscriber((update) => {
    tell = update;
    return () => {
      off?.();
      tell = off = followed = undefined;
    };
  });
  const ticks = createSubscriber((update) => {
    tick = update;
    return () => {
      tick = undefined;
    };
  });
  return {
    get current() {
      const now = store();
      values();
      if (!tell) return now.getSnapshot();
      if (now !== followed) {
        off?.();
        followed = undefined;
        off = follow(
          now,
          (next) => {
            value = next;
            // Whoever is reading need not be told.
            if (followed) tell?.();
          },
          () => tick?.(),
          ticks,
        );
        followed = now;
      }
      return value;
    },
  };
}

export const callState: typeof Api.callState = (call) => reactive(() => callStore(call()));

export const createRequest: typeof Api.createRequest = (client, input, init) => {
  const calls = writable<Call | undefined>();
  const call = fromStore(calls);
  const requester = makeRequester(calls.set);
  const wanted = toStore(() => requester.want_(client(), input(), init?.()));
  onMount(() => {
    const off = wanted.subscribe(untrack);
    return () => {
      off();
      requester.leave_();
    };
  });
  const state = reactive(() => requester.store_);
  return {
    get state() {
      return state.current;
    },
    get call() {
      return call.current;
    },
    ...requester.actions_,
  };
};

export const circuitsState: typeof Api.circuitsState = (client) => reactive(() => mustBeStore(client()?.circuits));

export const clientState: typeof Api.clientState = (client) => reactive(() => mustBeStore(client()));

export const outboxState: typeof Api.outboxState = (outbox) => reactive(() => mustBeStore(outbox()));
