// The request of a component, where a framework has nothing of its own to say about it.
import type { Call, CallState } from "./index.js";

/** Nothing is asked for where it is null, undefined or false. */
export type Wanted = RequestInfo | URL | null | undefined | false;

/** The request of a component: its state, and what a person can do about it. */
export interface RequestHandle {
  /** The same object while only `remaining` moves. */
  readonly state: CallState;
  /** The call under way; undefined before the component is mounted. */
  readonly call: Call | undefined;
  /** Goes on at once, where it waits: a person's click. False if that has no effect. */
  readonly retryNow: () => boolean;
  /** Another run, where the last one is over. */
  readonly retry: () => void;
  /** Gives up, where it is not over. */
  readonly cancel: (reason?: unknown) => void;
}
