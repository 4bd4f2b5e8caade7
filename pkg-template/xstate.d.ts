// steadfetch/xstate: the logic of an actor of XState 5 that makes one request.
import type { ActorLogic, Snapshot } from "xstate";
import type { CallState, SteadFetch, SteadInit } from "./index.js";

/** What the actor is given: the arguments of fetch. */
export interface RequestInput {
  /** What to fetch. */
  readonly input: RequestInfo | URL;
  /** As for a call of the client. */
  readonly init?: SteadInit | undefined;
}

/** What the actor can be sent. */
export type RequestEvent =
  | {
      /** Goes on at once, where it waits: a person's click. */
      readonly type: "retryNow";
    }
  | {
      /** Another run, where the last one is over. */
      readonly type: "retry";
    }
  | {
      /** Gives up, where it is not over. */
      readonly type: "cancel";
      /** As for `cancel()` of a call. */
      readonly reason?: unknown;
    };

/**
 * `context` is the state of the call. "done" with its success, the response being the output; any other end leaves the
 * actor "active", for it may be sent `retry`.
 */
export type RequestSnapshot = Snapshot<Response> & {
  /** The state of the call. */
  readonly context: CallState;
  /** What the actor was given. */
  readonly input: RequestInput;
};

/**
 * The logic of an actor that makes a request with this client, and cancels it when it is stopped, as when its parent leaves
 * the state that invoked it. A snapshot that was persisted makes the request anew.
 */
export function fromRequest(client: SteadFetch): ActorLogic<RequestSnapshot, RequestEvent, RequestInput>;
