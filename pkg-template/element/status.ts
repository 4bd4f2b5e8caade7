// <steadfetch-status>: follows its source while it is in a page, and counts down by one timer.
import type * as Api from "../element.js";
import type { Call, SteadFetch } from "../index.js";
import { ofCall, ofClient, type Source } from "./source.ts";
import { languageOf, type Messages, Speech } from "./speech.ts";
import { type Click, View } from "./view.ts";

/** There is none on a server, where this module may be imported all the same. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

const PROPERTIES = ["call", "client", "messages"] as const;

export class SteadfetchStatus extends Base implements Api.SteadfetchStatus {
  static readonly observedAttributes = ["lang"];

  readonly #view = new View(this, (click) => this.#clicked(click));
  #source: Source | undefined;
  #messages: Messages = {};
  #speech: Speech | undefined;
  #spoken: string | undefined;
  #off: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #page: Document | undefined;
  #languages: MutationObserver | undefined;
  readonly #look = (): void => this.#render();

  get call(): Call | null {
    return this.#source?.call_ ?? null;
  }

  set call(call: Call | null | undefined) {
    if (call !== this.call) this.#follow(call == null ? undefined : ofCall(call), this.call);
  }

  get client(): SteadFetch | null {
    return this.#source?.client_ ?? null;
  }

  set client(client: SteadFetch | null | undefined) {
    if (client !== this.client) this.#follow(client == null ? undefined : ofClient(client), this.client);
  }

  get messages(): Messages {
    return this.#messages;
  }

  set messages(messages: Messages | null | undefined) {
    this.#messages = checked(messages ?? {});
    this.#speech = undefined;
    this.#render();
  }

  connectedCallback(): void {
    const page = (this.#page = this.ownerDocument);
    page.addEventListener("visibilitychange", this.#look);
    this.#languages = new MutationObserver(this.#look);
    this.#languages.observe(page.documentElement, { attributeFilter: ["lang"], subtree: true });
    this.#subscribe();
    // What was set before the element was defined hides the accessors.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue;
      const value = this[name];
      delete (this as Partial<this>)[name];
      Object.assign(this, { [name]: value });
    }
  }

  disconnectedCallback(): void {
    this.#page?.removeEventListener("visibilitychange", this.#look);
    this.#languages?.disconnect();
    this.#unsubscribe();
  }

  adoptedCallback(): void {
    this.#view.dress_(this.ownerDocument);
  }

  /** Moved by moveBefore(): nothing ends. */
  connectedMoveCallback(): void {}

  attributeChangedCallback(): void {
    this.#render();
  }

  /** Nothing takes the place of `before` only: clearing the call leaves a client alone. */
  #follow(source: Source | undefined, before: unknown): void {
    if (!source && !before) return;
    this.#unsubscribe();
    this.#source = source;
    if (this.isConnected) this.#subscribe();
  }

  #subscribe(): void {
    this.#unsubscribe();
    this.#off = this.#source?.watch_(this.#look);
    this.#render();
  }

  #unsubscribe(): void {
    clearTimeout(this.#timer);
    this.#off?.();
    this.#off = undefined;
  }

  #render(): void {
    clearTimeout(this.#timer);
    if (!this.isConnected) return;
    const language = languageOf(this);
    if (!this.#speech || language !== this.#spoken)
      this.#speech = new Speech((this.#spoken = language), this.#messages);
    const line = this.#source?.line_(Date.now());
    if (!line) this.removeAttribute("status");
    else if (line.status_ !== this.getAttribute("status")) this.setAttribute("status", line.status_);
    this.#view.show_(line, this.#speech);
    // On whole seconds left, so that each is shown once and for a second.
    const left = line?.left_;
    if (left && this.ownerDocument.visibilityState !== "hidden") {
      this.#timer = setTimeout(this.#look, left % 1000 || 1000);
    }
  }

  #clicked(click: Click): void {
    const calls = this.#source?.calls_() ?? [];
    const event = new CustomEvent(`steadfetch-${click}`, {
      bubbles: true,
      composed: true,
      cancelable: true,
      detail: { calls },
    });
    if (!this.dispatchEvent(event)) return;
    for (const call of calls) {
      if (click === "try-now") call.retryNow();
      else if (click === "cancel") call.cancel();
      else call.retry();
    }
  }
}

/** A copy: what the page changes in its own object later would be seen at some time or other. */
function checked(messages: Messages): Messages {
  if (typeof messages !== "object") throw new TypeError("steadfetch: element.messages must be an object");
  const given = Object.entries(messages).filter(([, message]) => message !== undefined);
  for (const [name, message] of given) {
    const forms = typeof message === "string" ? [message] : [message?.other, ...Object.values(Object(message))];
    if (!forms.every((form) => typeof form === "string")) {
      throw new TypeError(`steadfetch: element.messages.${name} must be a text, or one for each plural form`);
    }
  }
  const copies = given.map(([name, message]) => [name, typeof message === "string" ? message : { ...message }]);
  return Object.freeze(Object.fromEntries(copies));
}
