// steadfetch/lit: reactive controllers for Lit 3, and for other hosts that follow its protocol. They look while their
// host is connected.
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "./index.js";
import type { Outbox, OutboxSnapshot } from "./outbox.js";
import type { Wanted } from "./request.js";

export type { Wanted } from "./request.js";

/** The state of a call; idle where there is none. A tick renders anew only a host that reads `remaining`. */
export class CallController implements ReactiveController {
  constructor(host: ReactiveControllerHost, call?: Call | null);
  /** Another one may be put in its place. */
  call: Call | null | undefined;
  /** The state now. */
  readonly state: CallState;
  hostConnected(): void;
  hostDisconnected(): void;
}

/**
 * Starts a request when its host is first rendered in a page, and cancels it when that is disconnected. Another client, address,
 * method, text body or other headers at a later render make another request, which takes the place of the one before; what
 * else changes in `init` is for the next one. Idle where nothing is wanted.
 */
export class RequestController implements ReactiveController {
  constructor(
    host: ReactiveControllerHost,
    client: () => SteadFetch,
    input: () => Wanted,
    init?: () => SteadInit | undefined,
  );
  /** The call under way; nothing before the host is first rendered in a page. */
  readonly call: Call | null | undefined;
  /** The state now. */
  readonly state: CallState;
  /** Goes on at once, where it waits: a person's click. False if that has no effect. */
  readonly retryNow: () => boolean;
  /** Another run, where the last one is over. */
  readonly retry: () => void;
  /** Gives up, where it is not over. */
  readonly cancel: (reason?: unknown) => void;
  hostConnected(): void;
  hostDisconnected(): void;
  hostUpdate(): void;
}

/** All circuits of a client. A tick renders anew only a host that reads `remaining`. */
export class CircuitsController implements ReactiveController {
  constructor(host: ReactiveControllerHost, client: SteadFetch);
  /** The circuits now. */
  readonly circuits: readonly CircuitState[];
  hostConnected(): void;
  hostDisconnected(): void;
}

/** How many calls of a client are in which state. */
export class ClientController implements ReactiveController {
  constructor(host: ReactiveControllerHost, client: SteadFetch);
  /** The counts now. */
  readonly snapshot: ClientSnapshot;
  hostConnected(): void;
  hostDisconnected(): void;
}

/**
 * What an outbox has, for a list of what is not delivered yet. While an entry waits and somebody looks, another value each
 * second.
 */
export class OutboxController<Meta = unknown> implements ReactiveController {
  constructor(host: ReactiveControllerHost, outbox: Outbox<Meta>);
  /** The entries now. */
  readonly snapshot: OutboxSnapshot<Meta>;
  hostConnected(): void;
  hostDisconnected(): void;
}
