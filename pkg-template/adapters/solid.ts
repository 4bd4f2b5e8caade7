// Primitives for Solid 1.
import { type Accessor, createEffect, createSignal, onCleanup, untrack } from "solid-js";
import type { Call } from "../index.js";
import type * as Api from "../solid.js";
import { follow } from "./lib/follow.ts";
import { callStore, makeRequester } from "./lib/requester.ts";
import { IDLE, mustBeStore, NO_CALLS, NONE } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

/** Effects do not run on a server, and not before its markup has been taken over. */
function from<T>(store: () => Store<T>, server: T): Accessor<T> {
  const [value, setValue] = createSignal(server);
  const [ticks, tick] = createSignal(undefined, { equals: false });
  createEffect(() => {
    onCleanup(follow(store(), (now) => setValue(() => now), tick, ticks));
  });
  return value;
}

export const fromCall: typeof Api.fromCall = (call) => from(() => callStore(call()), IDLE);

export const createRequest: typeof Api.createRequest = (client, input, init) => {
  const [call, setCall] = createSignal<Call>();
  const requester = makeRequester(setCall);
  createEffect(() => {
    const ask = requester.want_(client(), input(), init?.());
    untrack(ask);
  });
  onCleanup(() => requester.leave_());
  return { state: from(() => requester.store_, IDLE), call, ...requester.actions_ };
};

export const fromCircuits: typeof Api.fromCircuits = (client) => from(() => mustBeStore(client()?.circuits), NONE);

export const fromClient: typeof Api.fromClient = (client) => from(() => mustBeStore(client()), NO_CALLS);

export const fromOutbox: typeof Api.fromOutbox = (outbox) =>
  from(() => mustBeStore(outbox()), outbox().getServerSnapshot());
