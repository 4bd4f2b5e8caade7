// One round of sending an entry: a call of the client, which repeats what the core would send again.
import type { Call, CallState, SteadFetch } from "../index.js";
import type { OutboxRecord } from "../outbox.js";
import { giveUp } from "../src/response.ts";
import type { Item } from "./item.ts";
import type { Settings } from "./options.ts";
import { point } from "./point.ts";
import { initOf, KEY, keyedBy } from "./record.ts";

/** What the core sends again is repeated by the client, which knows when the server wants it. */
const AGAIN = [408, 409, 425, 429, "5xx"] as const;
/** Outcomes that are no status. */
const UNANSWERED = -1;
const INVALID = -2;
/** Phases, as src/web/outbox.rs numbers them. */
const OUT = 0;
const OFFLINE = 1;
const BACKOFF = 2;
const TOLD = 3;
/** The wait of a call for a circuit, of which the others are told by their source. */
const CIRCUIT = 4;
/** How long an attempt waits for `prepare`. */
const PATIENCE = 30_000;

/** How a round ended: with the status of an answer, and until when the server wants to be left alone. */
export type Ended = readonly [status: number, until: number];

/** What does not end holds up no queue for ever. */
async function inTime<T>(work: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("steadfetch: prepare() took too long")), PATIENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The request as `prepare` wants it, which may have read its body, as to sign it. */
async function prepared(
  prepare: NonNullable<Settings["prepare_"]>,
  record: OutboxRecord,
  init: RequestInit,
  request: Request,
): Promise<Request> {
  const made = (await inTime(prepare(request))) ?? request;
  // Anything else would be taken for the address of another request.
  if (!(made instanceof Request)) throw new TypeError("steadfetch: prepare must return a Request, or nothing");
  const { headers } = made;
  if (keyedBy(record) && !headers.get(KEY)) headers.set(KEY, record.key);
  if (!made.bodyUsed) return made;
  // It names the boundary of the text that was read.
  if (!new Headers(init.headers).has("Content-Type")) headers.delete("Content-Type");
  return new Request(made.url, { ...init, method: made.method, headers });
}

export class Round {
  /** By which the core knows it. */
  readonly token_: number;
  private readonly item_: Item;
  private readonly body_: BodyInit | null;
  /** Attempts before this round. */
  private readonly before_: number;
  private call_: Call | undefined;
  /** Nobody waits for it any more. */
  private off_ = false;
  /** What the core was told last. */
  private said_: string | undefined;

  constructor(token: number, item: Item, body: BodyInit | null) {
    this.token_ = token;
    this.item_ = item;
    this.body_ = body;
    this.before_ = item.attempts_;
  }

  /** Nothing where nobody waits for it, null where the client is none any more. */
  async send_(
    client: SteadFetch,
    { prepare_: prepare }: Settings,
    phase: (phase: number, until: number) => void,
  ): Promise<Ended | undefined | null> {
    const { item_: item } = this;
    const { record_: record } = item;
    item.given_ = item.kept_ = undefined;
    let status = INVALID;
    let until: number | null | undefined;
    try {
      const init = initOf(record, this.body_);
      const make = (): Request => new Request(record.url, init);
      const first = prepare && make();
      status = UNANSWERED;
      const options = {
        ...(!keyedBy(record) && { idempotencyKey: record.key }),
        // Until it is delivered, or too old; how long to wait is for the client to say.
        retry: { limit: Number.POSITIVE_INFINITY, maxRetryAfter: Number.POSITIVE_INFINITY, statusCodes: AGAIN },
        totalTimeout: false,
        throwHttpErrors: false,
        onCircuitOpen: "wait",
        onOffline: "wait",
        onExhausted: "settle",
        onState: (state: CallState) => this.follow_(state, phase),
      } as const;
      if (first) {
        point("preparing");
        const request = await prepared(prepare, record, init, first);
        point("prepared");
        if (this.off_) return;
        point("sending");
        const beforeRetry = () => prepared(prepare, record, init, make());
        this.call_ = client.start(request, { ...options, retry: { ...options.retry, beforeRetry } });
      } else {
        point("sending");
        this.call_ = client.start(record.url, { ...init, ...options });
      }
      point("sent");
      const response = await this.call_.response;
      point("answered");
      if (this.off_) {
        giveUp(response);
        return;
      }
      item.given_ = response;
      status = response.type === "opaque" ? 0 : response.status;
      until = (this.call_.state as { retryAt?: number }).retryAt;
    } catch (error) {
      const state = Object(this.call_?.state) as { reason?: unknown; retryAt?: number | null };
      const invalid = state.reason === "invalid-request";
      if (invalid && (error as Partial<Error> | undefined)?.name === "InvalidStateError")
        return this.off_ ? undefined : null;
      if (invalid) status = INVALID;
      until = state.retryAt;
      item.failure_ = { status: null, error };
    }
    return this.off_ ? undefined : [status, until ?? Number.NaN];
  }

  /** What it waits for. */
  private follow_(state: CallState, tell: (phase: number, until: number) => void): void {
    // What a page that has gone sent may arrive; it does not send it again.
    if (this.off_) this.call_?.cancel();
    if (this.off_) return;
    const { status } = state;
    let phase = OUT;
    let until = Number.NaN;
    if (status === "offline") phase = OFFLINE;
    else if (status === "waiting") {
      const { status: answered = null, error } = state.cause;
      this.item_.failure_ = { status: answered, ...(error !== undefined && { error }) };
      phase = state.source === "backoff" || state.source === "custom" ? BACKOFF : TOLD;
      until = state.retryAt;
    } else if (status === "circuit-open" && !state.settled) {
      phase = CIRCUIT;
      until = state.retryAt ?? Number.NaN;
    } else if (status !== "loading") return;
    // A countdown is no change.
    const said = [phase, until, state.attempt].join();
    if (said === this.said_) return;
    this.said_ = said;
    this.item_.attempts_ = this.before_ + state.attempt;
    tell(phase, until);
  }

  retryNow_(): void {
    this.call_?.retryNow();
  }

  /** What is out stays out; the call, if there is one, is handed over. */
  leave_(): Call | undefined {
    this.off_ = true;
    return this.call_;
  }

  cancel_(): void {
    this.leave_()?.cancel();
  }
}
