// What the tabs of an origin tell each other. The core decides what it means; here it is sent, and what comes in is
// looked at before anything else sees it.

const CHANNEL = "steadfetch";
const VERSION = 1;
const LAST_KIND = 5;
/** As in driver.rs. */
export const LONGEST_KEY = 2_048;

/** Kind, tab, key, and what the kind says; see events.rs. */
export type News = [kind: number, tab: number, key: string, a: number, b: number, c: number, d: number];

const isCount = (value: unknown, most: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

function isNews(data: unknown): data is [number, ...News] {
  if (!Array.isArray(data) || data.length !== 8) return false;
  const [version, kind, tab, key, ...numbers] = data;
  const ours = version === VERSION && isCount(kind, LAST_KIND) && isCount(tab, 2 ** 32 - 1);
  return ours && typeof key === "string" && key.length <= LONGEST_KEY && numbers.every(Number.isFinite);
}

export class Tabs {
  private channel_: BroadcastChannel | undefined;
  private readonly heard_: (...news: News) => void;

  constructor(heard: (...news: News) => void) {
    this.heard_ = heard;
    this.join_();
    for (const type of ["pagehide", "pageshow"]) globalThis.addEventListener?.(type, this.page_);
  }

  /** A page in the browser's cache hears nothing, and an open channel might keep it out of there. */
  private readonly page_ = ({ type }: Event): void => {
    if (type === "pagehide") this.leave_();
    else this.join_();
  };

  private join_(): void {
    if (this.channel_) return;
    try {
      this.channel_ = new BroadcastChannel(CHANNEL);
    } catch {
      // There is none, or not for this origin: then every tab is alone.
      return;
    }
    this.channel_.onmessage = ({ data }) => {
      if (isNews(data)) this.heard_(...(data.slice(1) as News));
    };
    (this.channel_ as { unref?: () => void }).unref?.();
    this.tell_(0, 0, "", 0, 0, 0, 0);
  }

  private leave_(): void {
    this.channel_?.close();
    this.channel_ = undefined;
  }

  tell_(...news: News): void {
    if (news[2].length > LONGEST_KEY) return;
    try {
      this.channel_?.postMessage([VERSION, ...news]);
    } catch {
      // One that cannot be written to, as where the browser has closed it, is none.
    }
  }

  close_(): void {
    this.leave_();
    for (const type of ["pagehide", "pageshow"]) globalThis.removeEventListener?.(type, this.page_);
  }
}

/** The lock that one tab alone has for the probe of a key. */
export class ProbeLock {
  private readonly attempt_: number;
  private release_!: () => void;
  private readonly released_ = new Promise<void>((resolve) => {
    this.release_ = resolve;
  });

  /** `answer`: 0 granted, 1 there are no locks, 2 taken; gives false where the lock is not wanted any more. */
  constructor(key: string, attempt: number, answer: (lock: number) => boolean) {
    this.attempt_ = attempt;
    const locks = globalThis.navigator?.locks;
    if (!locks) {
      answer(1);
      return;
    }
    let asked = true;
    // Not for this origin, or not at all.
    const missing = (): void => {
      if (asked) answer(1);
    };
    try {
      locks
        .request(`steadfetch ${key}`, { ifAvailable: true }, (lock) => {
          asked = false;
          return answer(lock ? 0 : 2) && lock ? this.released_ : undefined;
        })
        .catch(missing);
    } catch {
      missing();
    }
  }

  /** A moment later, so that what came of the probe is there before the lock is free. */
  free_(attempt: number): void {
    if (attempt === this.attempt_) setTimeout(this.release_, 50);
  }
}
