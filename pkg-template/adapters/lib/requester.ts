// The request of a component: which call is under way for it, and that call's state; and that of any call.
import type { Call, CallState, SteadFetch, SteadInit } from "../../index.js";
import type { Wanted } from "../../request.js";
import { IDLE, mustBeStore } from "./stores.ts";
import type { Store } from "./view.ts";

/** `changed` is told which call is under way. */
export function makeRequester(changed: (call: Call | undefined) => void) {
  let call: Call | undefined;
  let client: SteadFetch | undefined;
  let identity: string | undefined;
  let left: boolean | undefined;
  let listener: ((state: CallState) => void) | undefined;
  let off: (() => void) | undefined;
  const follow = (): void => {
    if (call) off = listener && call.subscribe(listener);
    else listener?.(IDLE);
  };
  return {
    /** A store, so that nobody sees the end of a call in whose place another comes. One may listen. */
    store_: {
      getSnapshot: () => (call ? call.state : IDLE),
      subscribe(told: (state: CallState) => void) {
        listener = told;
        follow();
        return () => {
          off?.();
          listener = undefined;
        };
      },
    },

    /**
     * What asks for it, unless the same was asked for already; what was under way for something else is cancelled.
     * The same is what is equal by value, since components write addresses, headers and bodies anew in each render;
     * functions, signals and bodies that are no text are not compared. That is read here, where a framework may note it;
     * what is returned may run functions of the user's, of which it should not.
     */
    want_(by: SteadFetch, input: Wanted, init?: SteadInit | null) {
      const given = input as Partial<Request> | null;
      const headers = init?.headers ?? given?.headers;
      const body = init?.body;
      const now = JSON.stringify([
        given?.url ?? input,
        init?.method ?? given?.method,
        // Whether a header can be sent is for the call to say.
        headers instanceof Headers ? [...headers] : headers,
        typeof body === "string" && body,
      ]);
      return () => {
        left = false;
        if (by === client && now === identity) return;
        off?.();
        call?.cancel();
        client = by;
        identity = now;
        call = input ? by.start(input, init as SteadInit) : undefined;
        follow();
        changed(call);
      };
    },

    /** Cancels, unless the component is back in the same turn. */
    leave_() {
      left = true;
      queueMicrotask(() => {
        if (!left) return;
        call?.cancel();
        client = undefined;
      });
    },

    actions_: {
      retryNow: () => !!call?.retryNow(),
      retry() {
        if (!left) call?.retry();
      },
      cancel: (reason?: unknown) => call?.cancel(reason),
    },
  };
}

const NO_CALL: Store<CallState> = /* @__PURE__ */ makeRequester(() => {}).store_;

export const callStore = (call: Store<CallState> | null | undefined): Store<CallState> => mustBeStore(call ?? NO_CALL);
