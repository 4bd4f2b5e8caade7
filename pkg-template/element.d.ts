// steadfetch/element: <steadfetch-status>, the state of a call or of a client for a person to read. Importing it
// registers the element where there are custom elements, and does nothing on a server.
import type { Call, SteadFetch } from "./index.js";

/** One text for each plural category that the language has, chosen by `Intl.PluralRules` for `{count}`. */
export type PluralForms = {
  /** For every number that has no form of its own. */
  readonly other: string;
} & { readonly [Category in Intl.LDMLPluralRule]?: string };

/**
 * A text. `{time}` is a span such as "5 seconds". `{attempt}`, `{max}`, `{status}` and `{count}` are numbers, where the
 * state has them.
 */
export type StatusMessage = string | PluralForms;

/** The texts of the element. Headlines have no full stop, the sentences below them do. */
export interface StatusMessages {
  /** Headline of `idle`. */
  idle: StatusMessage;
  /** Headline of `loading`: `{attempt}`, `{max}`. */
  loading: StatusMessage;
  /** Headline of `loading` where there is one attempt only. */
  loadingOnce: StatusMessage;
  /** Below `loading` that is a probe. */
  probe: StatusMessage;
  /** Headline of `waiting`: `{time}`, `{attempt}` (the one to come), `{max}`. */
  waiting: StatusMessage;
  /** Headline of `waiting` before the first attempt: `{time}`. */
  waitingFirst: StatusMessage;
  /** A failure: the server answered `{status}`. */
  status: StatusMessage;
  /** A failure: the server answered `{status}` and said how long to wait. */
  asked: StatusMessage;
  /** Before the first attempt, for what another call was told; and `exhausted`, reason "retry-after-too-long". */
  askedToWait: StatusMessage;
  /** A failure: no connection, or one that broke. */
  network: StatusMessage;
  /** A failure: no answer in time. */
  timeout: StatusMessage;
  /** Headline of `offline`. */
  offline: StatusMessage;
  /** Below `offline`, of a call. */
  offlineCall: StatusMessage;
  /** Below `offline`, of a client: `{count}` requests. */
  offlineCalls: StatusMessage;
  /** Headline of an open circuit: `{time}` to the next check. */
  circuit: StatusMessage;
  /** Headline of a circuit that is being checked. */
  circuitChecking: StatusMessage;
  /** Headline of a circuit whose time is over. */
  circuitDue: StatusMessage;
  /** Headline of a circuit that is held open by hand. */
  circuitHeld: StatusMessage;
  /** Below an open circuit. */
  tooManyFailed: StatusMessage;
  /** Headline of a call that its circuit has refused: `{time}`. */
  refused: StatusMessage;
  /** The same, once the time is over. */
  refusedDue: StatusMessage;
  /** Below a refused call, while another request is the check. */
  refusedChecking: StatusMessage;
  /** Headline of `success`. */
  success: StatusMessage;
  /** Headline of `failed`. */
  failed: StatusMessage;
  /** `failed`, reason "not-idempotent"; follows the failure. */
  notIdempotent: StatusMessage;
  /** `failed`, reason "body-not-replayable"; follows the failure. */
  notReplayable: StatusMessage;
  /** `failed`, reasons "invalid-request" and "callback-threw". */
  brokenPage: StatusMessage;
  /** `failed`, reason "offline". */
  failedOffline: StatusMessage;
  /** Headline of `exhausted`. */
  exhausted: StatusMessage;
  /** `exhausted`, reason "limit": `{count}` attempts; follows the failure. */
  limit: StatusMessage;
  /** `exhausted`, reason "budget"; follows the failure. */
  budget: StatusMessage;
  /** `exhausted`, reason "total-timeout". */
  totalTimeout: StatusMessage;
  /** `exhausted`, with a time before which another run is of no use: `{time}`; follows the reason. */
  notBefore: StatusMessage;
  /** `exhausted` and held. */
  held: StatusMessage;
  /** Headline of `cancelled`. */
  cancelled: StatusMessage;
  /** `{count}` requests of a client wait. */
  waitingCalls: StatusMessage;
  /** Below that: `{time}`. */
  nextTry: StatusMessage;
  /** Button. */
  tryNow: StatusMessage;
  /** Button. */
  tryAgain: StatusMessage;
  /** Button. */
  cancel: StatusMessage;
  /** Button of a client with several requests that wait. */
  cancelAll: StatusMessage;
}

/** The events, by their names after the prefix with which markup listens. */
export type StatusListeners<Prefix extends string> = {
  [Click in "try-now" | "try-again" | "cancel" as `${Prefix}steadfetch-${Click}`]?: (event: StatusEvent) => void;
};

/** What a framework hands over: properties, which no attribute can be. */
export interface StatusProperties {
  /** The call that is shown. */
  call?: Call | null | undefined;
  /** The client that is shown. */
  client?: SteadFetch | null | undefined;
  /** Texts in the place of the built-in ones. */
  messages?: Readonly<Partial<StatusMessages>> | null | undefined;
}

/** A click, before it takes effect; `preventDefault()` keeps it from that. */
export type StatusEvent = CustomEvent<{
  /** Those that the click is about: one, or all that wait of a client. */
  readonly calls: readonly Call[];
}>;

/**
 * Set `call` or `client`. The attribute `status` tells what is shown, and is absent while nothing is: a call's status,
 * or of a client "offline", "circuit-open" or "waiting".
 */
export class SteadfetchStatus extends HTMLElement {
  /** The call that is shown, in the place of what was before; null shows nothing. Anything else throws a TypeError. */
  get call(): Call | null;
  /** Shows another call. */
  set call(call: Call | null | undefined);
  /** The client that is shown, in the place of what was before; null shows nothing. Anything else throws a TypeError. */
  get client(): SteadFetch | null;
  /** Shows another client. */
  set client(client: SteadFetch | null | undefined);
  /** Texts in the place of the built-in ones; null takes them back. Names that are not texts are ignored. */
  get messages(): Readonly<Partial<StatusMessages>>;
  /** Sets other texts. */
  set messages(messages: Readonly<Partial<StatusMessages>> | null | undefined);
}

/**
 * Registers the element under another name, or anew where importing did not; where the name is taken already, be it by
 * another version, nothing happens.
 */
export function defineSteadfetchStatus(name?: string): void;

declare global {
  interface HTMLElementTagNameMap {
    "steadfetch-status": SteadfetchStatus;
  }
  interface HTMLElementEventMap {
    "steadfetch-try-now": StatusEvent;
    "steadfetch-try-again": StatusEvent;
    "steadfetch-cancel": StatusEvent;
  }
}
