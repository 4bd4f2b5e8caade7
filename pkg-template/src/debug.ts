// Tells developers what a page can see of failures that only they can mend: each cause once, and only with
// `debug: true` or in a development build.
import type { CallState } from "../index.js";
import { mono } from "./platform.ts";
import { tell } from "./report.ts";

declare const process: { env?: { NODE_ENV?: string } } | undefined;

/** Bundlers write the value in, word for word. */
export const development = (): boolean =>
  typeof process !== "undefined" && !!process.env && process.env.NODE_ENV === "development";

const told = new Set<string>();

function tellOnce(cause: string, text: string): void {
  if (told.has(cause)) return;
  told.add(cause);
  tell((text) => console.warn(text), `steadfetch: ${text}`);
}

/** About a call that is wrong in itself, which shows nowhere else where nobody looks at its state. */
export function tellWrong(reason: string, error: unknown): void {
  // What was thrown may be nothing that has words.
  tell((error) => {
    // As above: no more of an address than its path.
    const text = String(error).split(/[?#]/)[0];
    tellOnce(`${reason} ${text}`, `a call failed, and will each time (${reason}): ${text}`);
  }, error);
}

/** What became of the last calls of a method and URL. */
interface History {
  /** When the last one had used up its attempts. */
  exhaustedAt_: number;
  /** How many in a row began soon after that. */
  again_: number;
}
const histories = new Map<string, History>();
const SOON = 15_000;
const KEPT = 100;

/** What all calls sent lately, on the clock of `performance`. */
let sent: { url_: string; at_: number }[] = [];

/** The hints about one call. */
export class Hints {
  private readonly key_: string;
  /** For the reader: what comes after the path may be a secret. */
  private readonly what_: string;
  private readonly url_: string;
  private readonly began_ = mono();

  constructor(method: string, url: string, clicked: boolean) {
    this.url_ = url;
    this.key_ = `${method} ${url}`;
    this.what_ = `${method} ${url.split(/[?#]/)[0]}`;
    const history = histories.get(this.key_);
    if (!history) return;
    history.again_ = !clicked && Date.now() - history.exhaustedAt_ < SOON ? history.again_ + 1 : 0;
    if (history.again_ > 1) {
      tellOnce(
        `over ${this.what_}`,
        `${this.what_} is called again and again right after its attempts are used up. Does a layer above retry as ` +
          "well (a query library, for example)? Switch one of the two off.",
      );
    }
  }

  sending_(): void {
    sent = [...sent.slice(-KEPT), { url_: this.url_, at_: mono() }];
  }

  answered_({ type, status, headers }: Response): void {
    if (type !== "cors" || (status !== 429 && status !== 503) || headers.has("retry-after")) return;
    tellOnce(
      `cors ${new URL(this.url_).origin}`,
      `${this.what_} was answered ${status} without a Retry-After that this page may read. If the server sends one, it ` +
        "has to allow it: Access-Control-Expose-Headers: Retry-After",
    );
  }

  ended_(state: CallState): void {
    if (state.status === "failed" && state.reason === "not-idempotent" && state.maxAttempts > 1) {
      tellOnce(
        `key ${this.what_}`,
        `${this.what_} failed and was not sent again, since it might take effect twice. If the server knows ` +
          'Idempotency-Key, set idempotencyKey: "auto".',
      );
    }
    // The latest may not be listed yet, so there were as many at least.
    const entries = globalThis.performance?.getEntriesByName?.(this.url_, "resource") ?? [];
    const seen = entries.filter(({ startTime }) => startTime >= this.began_).length;
    const ours = sent.filter(({ url_, at_ }) => url_ === this.url_ && at_ >= this.began_).length;
    if (ours && seen > ours) {
      tellOnce(
        `under ${this.what_}`,
        `${this.what_} went out ${seen} times for ${ours} attempts of ours. Does a layer below retry as well (a patched ` +
          "fetch, or the fetch option)? Switch one of the two off.",
      );
    }
    // One that does not retry has nothing to switch off.
    const exhausted = state.status === "exhausted" && !state.held && state.maxAttempts > 1;
    const again = histories.get(this.key_)?.again_ ?? 0;
    histories.delete(this.key_);
    if (!exhausted) return;
    if (histories.size >= KEPT) histories.clear();
    histories.set(this.key_, { exhaustedAt_: Date.now(), again_: again });
  }
}
