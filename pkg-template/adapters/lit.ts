// Reactive controllers for Lit and whatever else has them.
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { Call, CallState, CircuitState, ClientSnapshot, SteadFetch, SteadInit } from "../index.js";
import type * as Api from "../lit.js";
import type { Outbox, OutboxSnapshot } from "../outbox.js";
import { follow } from "./lib/follow.ts";
import { callStore, makeRequester } from "./lib/requester.ts";
import { mustBeStore } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

abstract class StoreController<T> implements ReactiveController {
  protected value_: T;
  private readonly host_: ReactiveControllerHost;
  private store_: Store<T>;
  protected off_: (() => void) | undefined;
  private read_ = false;

  constructor(host: ReactiveControllerHost, store: Store<T>) {
    this.host_ = host;
    this.store_ = store;
    this.value_ = store.getSnapshot();
    host.addController(this);
  }

  protected follow_(store: Store<T>): void {
    this.store_ = store;
    if (this.off_) this.hostConnected();
  }

  hostConnected(): void {
    this.off_?.();
    const tick = (): void => {
      if (!this.read_) return;
      this.read_ = false;
      this.host_.requestUpdate();
    };
    this.off_ = follow(
      this.store_,
      (now) => {
        this.value_ = now;
        this.read_ = true;
        tick();
      },
      tick,
      () => {
        this.read_ = true;
      },
    );
  }

  hostDisconnected(): void {
    this.off_?.();
    this.off_ = undefined;
  }
}

export class CallController extends StoreController<CallState> implements Api.CallController {
  private call_: Call | null | undefined;

  constructor(host: ReactiveControllerHost, call?: Call | null) {
    super(host, callStore(call));
    this.call_ = call;
  }

  get call(): Call | null | undefined {
    return this.call_;
  }

  set call(call: Call | null | undefined) {
    this.follow_(callStore(call));
    this.call_ = call;
  }

  get state(): CallState {
    return this.value_;
  }
}

export class RequestController extends CallController implements Api.RequestController {
  declare readonly retryNow: () => boolean;
  declare readonly retry: () => void;
  declare readonly cancel: (reason?: unknown) => void;
  readonly hostUpdate: () => void;
  private readonly leave_: () => void;

  constructor(
    host: ReactiveControllerHost,
    client: () => SteadFetch,
    input: () => Api.Wanted,
    init?: () => SteadInit | undefined,
  ) {
    super(host);
    const requester = makeRequester((call) => {
      this.call = call;
    });
    Object.assign(this, requester.actions_);
    // A server renders without connecting.
    this.hostUpdate = () => this.off_ && requester.want_(client(), input(), init?.())();
    this.leave_ = () => requester.leave_();
  }

  override hostConnected(): void {
    super.hostConnected();
    // Back from elsewhere in the page, it may have nothing to render.
    if (this.call) this.hostUpdate();
  }

  override hostDisconnected(): void {
    super.hostDisconnected();
    this.leave_();
  }
}

export class CircuitsController extends StoreController<readonly CircuitState[]> implements Api.CircuitsController {
  constructor(host: ReactiveControllerHost, client: SteadFetch) {
    super(host, mustBeStore(client?.circuits));
  }

  get circuits(): readonly CircuitState[] {
    return this.value_;
  }
}

export class ClientController extends StoreController<ClientSnapshot> implements Api.ClientController {
  constructor(host: ReactiveControllerHost, client: SteadFetch) {
    super(host, mustBeStore(client));
  }

  get snapshot(): ClientSnapshot {
    return this.value_;
  }
}

export class OutboxController<Meta>
  extends StoreController<OutboxSnapshot<Meta>>
  implements Api.OutboxController<Meta>
{
  constructor(host: ReactiveControllerHost, outbox: Outbox<Meta>) {
    super(host, mustBeStore(outbox));
  }

  get snapshot(): OutboxSnapshot<Meta> {
    return this.value_;
  }
}
