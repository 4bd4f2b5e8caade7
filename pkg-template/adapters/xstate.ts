// An actor of XState 5 whose snapshot is the state of a call.
import type { Call, CallState, SteadFetch } from "../index.js";
import type * as Api from "../xstate.js";
import { IDLE } from "./lib/stores.ts";

const STATE = "steadfetch.state";

export const fromRequest: typeof Api.fromRequest = (client: SteadFetch) => {
  /** By the actor: none of it is part of a snapshot, which may be kept. */
  const calls = new WeakMap<object, { call_: Call; off_: () => void }>();
  const initial = (input: Api.RequestInput): Api.RequestSnapshot => ({
    status: "active",
    output: undefined,
    error: undefined,
    context: IDLE,
    input,
  });
  return {
    getInitialSnapshot: (_, input) => initial(input),

    start({ status, input }, { self }) {
      if (status !== "active") return;
      const call = client.start(input.input, input.init);
      const tell = (state: CallState): void => self.send({ type: STATE, state } as never);
      calls.set(self, { call_: call, off_: call.subscribe(tell) });
    },

    transition(snapshot, event, { self, defer }) {
      const { call_: call, off_: off } = calls.get(self) ?? {};
      switch (event.type as string) {
        case STATE: {
          const { state: context } = event as unknown as { state: CallState };
          if (context.status !== "success") return { ...snapshot, context } as Api.RequestSnapshot;
          off?.();
          return { ...snapshot, context, status: "done", output: context.response, error: undefined };
        }
        case "xstate.stop":
          off?.();
          call?.cancel();
          return { ...snapshot, status: "stopped", output: undefined, error: undefined };
        case "retryNow":
        case "retry":
          defer(() => call?.[event.type as "retry"]());
          break;
        case "cancel":
          defer(() => call?.cancel((event as { reason?: unknown }).reason));
      }
      return snapshot;
    },

    // Neither a response nor a running attempt can be kept: what is restored asks again.
    getPersistedSnapshot: ({ status, error, input }) =>
      ({ status: status === "done" ? "stopped" : status, output: undefined, error, input }) as never,
    restoreSnapshot: (kept) => ({ ...initial((kept as Api.RequestSnapshot).input), status: kept.status }) as never,
  };
};
