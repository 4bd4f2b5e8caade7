// Makes the requests of a call. The first is built from what the caller gave, so that a mistake throws what fetch
// would throw; later ones from the first.

import type { SteadInit } from "../index.js";
import { core } from "./core.ts";
import { isThenable, mustBeFunction } from "./report.ts";
import { combines } from "./signals.ts";

/** Members of RequestInit that every browser reads, and those that only some do. */
const read =
  "method headers body referrer referrerPolicy mode credentials cache redirect integrity keepalive signal".split(" ");
const seldom = ["duplex", "priority", "window"];

type Body = BodyInit | null | undefined;
type Factory = () => Body | Promise<Body>;

const isStream = (body: unknown): boolean =>
  typeof body === "object" && body !== null && ("getReader" in body || Symbol.asyncIterator in body);

/** A copy that the caller cannot change and fetch has not read. */
function copied(body: Body): Body {
  // Also one whose bytes have been given away, which cannot be copied.
  if ((body instanceof ArrayBuffer || ArrayBuffer.isView(body)) && !body.byteLength) return new Uint8Array();
  if (body instanceof ArrayBuffer) return body.slice(0);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength).slice();
  }
  if (body instanceof FormData) {
    const copy = new FormData();
    for (const [name, value] of body) copy.append(name, value);
    return copy;
  }
  return body instanceof URLSearchParams ? new URLSearchParams(body) : body;
}

/** How much a body adds to the browser's quota. What cannot be known without reading it counts as nothing. */
function size(body: Body): number {
  if (body instanceof Blob) return body.size;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength;
  if (body instanceof FormData) {
    let bytes = 100;
    // A part is its names and its value between lines of a fixed length.
    for (const [name, value] of body) bytes += 250 + 3 * name.length + size(value);
    return bytes;
  }
  return typeof body === "string" || body instanceof URLSearchParams ? new Blob([String(body)]).size : 0;
}

/** An attempt as it is to be sent. */
interface Sending {
  request_: Request;
  /** Says it once more: Firefox does not heed what the Request says. */
  init_?: RequestInit;
  /** To be called when it is over. */
  release_?: () => void;
}

/** Whether an `init` with nothing but `seldom` members counts as one that is not empty, and resets the referrer. */
const resets = (init: object): boolean =>
  !new Request(new Request("data:,", { referrerPolicy: "origin" }), init).referrerPolicy;

export class Requests {
  /** As last sent, or about to be. */
  request_!: Request;
  /** The one that is under way, or was; of what is not sent yet, the one above. */
  out_: Request | undefined;
  /** Whether the body can be sent again. */
  replayable_!: boolean;
  /** The callers' signals; after those that were given with the call comes that of a request made by `beforeRetry`. */
  readonly signals_: AbortSignal[] = [];
  given_ = 0;
  controller_!: AbortController;
  private factory_: Factory | undefined;
  private duplex_ = "half";
  private body_: Body;
  /** What is sent next, where it is known. */
  private sent_: Body;
  private keepalive_ = false;
  /** It is wanted by init, and not by a Request alone, where Firefox does not heed it. */
  private said_ = false;
  /** The body is inside the Request, and copies of it are made by `clone`. */
  private inside_ = false;
  /** Content-Type was made for this very body (it names a boundary) and goes with it. */
  private typed_ = false;
  /** Nothing was sent yet. */
  fresh_ = true;
  /** What was thrown last says that the body is none. */
  invalid_ = false;
  /** `request_` is the one to be sent next. */
  private prepared_ = false;

  /** Throws what `new Request(input, init)` throws. */
  constructor(input: RequestInfo | URL, init: SteadInit | undefined) {
    const bodyFactory = init?.bodyFactory;
    if (bodyFactory !== undefined) mustBeFunction(bodyFactory, "bodyFactory");
    try {
      this.first_(input, init, bodyFactory);
    } catch (error) {
      // More of the arguments was read than the platform reads, or in another order. Whether they are wrong, and of two
      // mistakes which is told, is for the platform to say.
      if (this.factory_) throw error;
      this.signals_.length = 0;
      this.first_(new Request(input, init as RequestInit));
    }
  }

  private first_(input: RequestInfo | URL, init?: SteadInit, bodyFactory?: Factory): void {
    const own: Record<string, unknown> = {};
    if (init != null) {
      for (const name of [...read, ...seldom]) {
        // Throws where init is no object.
        const value = Reflect.get(init, name);
        if (value !== undefined) own[name] = value;
      }
    }
    const given = typeof input === "object" && input && "signal" in input ? input : undefined;
    const { body, signal, headers, duplex } = own as SteadInit & { duplex?: string };
    const factory = bodyFactory ?? (typeof body === "function" ? body : undefined);
    this.factory_ = factory as Factory | undefined;
    if (factory) delete own.body;
    else this.body_ = body as Body;
    this.duplex_ = duplex ?? "half";

    if (signal != null) {
      // What is no signal of this realm is for the platform to judge.
      this.signals_.push(signal instanceof AbortSignal ? signal : new Request("data:,", { signal }).signal);
    }
    if (given?.signal && signal !== null) this.signals_.push(given.signal);

    const has = (name: string): boolean => own[name] !== undefined;
    if (given && !read.some(has) && !(seldom.some(has) && resets(own))) {
      // Our signal makes an init that was empty one that is not, and that would reset these two.
      own.referrer = given.referrer;
      own.referrerPolicy = given.referrerPolicy;
    }
    this.given_ = this.signals_.length;
    own.signal = this.signal_();
    this.request_ = new Request(input, own);
    this.said_ = !!own.keepalive;
    this.keepalive_ = !!(own.keepalive ?? given?.keepalive);
    this.replayable_ = !!factory || !isStream(this.body_);
    if (given && this.body_ == null && !factory) {
      // Where a Request does not show its body, one that may have a body is taken to have one.
      this.inside_ = given.body === undefined ? !/^(GET|HEAD)$/.test(given.method) : given.body !== null;
    }
    if (this.body_ instanceof FormData) {
      this.typed_ = !new Headers(headers ?? given?.headers).has("content-type");
    }
  }

  /** The signal of the next attempt: ours, and after the headers still the callers'. */
  private signal_(): AbortSignal {
    const { signal } = (this.controller_ = new AbortController());
    return this.signals_.length && combines() ? AbortSignal.any([signal, ...this.signals_]) : signal;
  }

  abort_(reason: unknown): void {
    // What was prepared for this attempt goes with it.
    this.prepared_ = false;
    this.controller_.abort(reason);
  }

  /** What is not sent at once must not change with what the caller does next. */
  hold_(): void {
    if (this.fresh_ && this.replayable_) this.body_ = copied(this.body_);
  }

  /** From now on this one is sent. */
  replace_(request: Request): void {
    this.prepared_ = false;
    this.request_ = request;
    this.keepalive_ = request.keepalive ?? this.keepalive_;
    this.inside_ = request.body !== null;
  }

  /** Makes the request of the next attempt, so that a hook can look at it, change it or make another from it. */
  prepare_(): void {
    // Of a factory the body comes later.
    const { factory_: factory, request_: template } = this;
    this.request_ = factory ? this.again_(template, undefined, this.signal_()) : (this.next_(true) as Request);
    this.prepared_ = true;
  }

  /** The request of the next attempt. `keep` what is needed to make another. */
  next_(keep: boolean): Request | Promise<Request> {
    const { fresh_: fresh, request_: template, factory_: factory } = this;
    const { prepared_: prepared } = this;
    this.prepared_ = this.fresh_ = false;
    // It is sent as it is, and gone then.
    if (this.inside_ && !keep) this.replayable_ = false;
    if (prepared && !factory) return this.inside_ && keep ? template.clone() : template;
    const signal = fresh || prepared ? undefined : this.signal_();
    if (factory) {
      const body = factory();
      return isThenable(body)
        ? Promise.resolve(body).then((body) => this.again_(template, body, signal))
        : this.again_(template, body as Body, signal);
    }
    if (this.inside_) {
      const source = keep ? template.clone() : template;
      return signal ? this.again_(source, undefined, signal) : source;
    }
    const body = (this.sent_ = this.body_);
    if (keep && this.replayable_) this.body_ = copied(body);
    return signal ? this.again_(template, body, signal) : template;
  }

  /** The request as it is sent: with `keepalive` only if it is wanted and if the browser has room for it. */
  keptAlive_(request: Request, admit: (bytes: number) => boolean): Sending {
    this.out_ = request;
    if (!this.keepalive_) return { request_: request };
    const bytes = size(this.sent_);
    const keepalive = admit(bytes);
    const { referrer, referrerPolicy } = request;
    const init = { keepalive, referrer, referrerPolicy };
    if (!keepalive) return { request_: new Request(request, init) };
    return { request_: request, ...(this.said_ && { init_: init }), release_: (): void => core().release(bytes) };
  }

  private again_(from: Request, body: Body, signal = from.signal): Request {
    this.sent_ = body;
    // An init that is not empty resets the referrer and its policy.
    const init: RequestInit & { duplex?: string } = {
      signal,
      referrer: from.referrer,
      referrerPolicy: from.referrerPolicy,
    };
    if (body != null) {
      init.body = body;
      init.duplex = this.duplex_;
      if (this.typed_) {
        init.headers = new Headers(from.headers);
        init.headers.delete("content-type");
      }
    }
    // Within a render Next.js answers GETs that are alike by its first answer, but for those that are kept alive, which
    // changes nothing on a server.
    if ((globalThis.fetch as { __nextPatched?: boolean } | undefined)?.__nextPatched) init.keepalive = true;
    this.invalid_ = true;
    const request = new Request(from, init);
    this.invalid_ = false;
    return request;
  }
}
