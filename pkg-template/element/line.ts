// What there is to say, apart from the language: the sentences of a state and its buttons.
import type { StatusMessages } from "../element.js";

export type Key = keyof StatusMessages;

/** Numbers are written as the language does, texts as they are. */
export type Values = { readonly [name: string]: number | string | undefined };

export interface Line {
  /** For looks; the names of the call's own states. */
  readonly status_: string;
  /** What is announced once: a line with the same identity is no news. */
  readonly identity_: string;
  readonly headline_: Key;
  readonly details_: readonly Key[];
  readonly values_: Values;
  /** What `{time}` is, and falls with the clock; above zero while it counts down. */
  readonly left_: number;
  /** The button that sends again. */
  readonly again_?: "tryNow" | "tryAgain" | undefined;
  /** That button is in its place but of no use, so that nothing jumps and the focus stays. */
  readonly rests_?: boolean | undefined;
  readonly cancel_?: "cancel" | "cancelAll" | undefined;
}

/** Milliseconds until a moment that may be unknown. */
export const until = (at: number | null | undefined, now: number): number => (at == null ? 0 : Math.max(0, at - now));
