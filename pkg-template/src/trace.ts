// Shows a call in the browser's own performance panel: a measure for each attempt and wait, a mark for each new state
// (User Timing Level 3), on a track of its own where the panel has tracks.
import type { CallState } from "../index.js";

const TRACK = "steadfetch";

export class Trace {
  /** What comes after the path may be a secret. */
  private readonly what_: string;
  private status_ = "";
  private since_ = 0;

  constructor(id: number, method: string, url: string) {
    this.what_ = `#${id} ${method} ${url.split(/[?#]/)[0]}`;
  }

  /** Ticks of a countdown are no news. */
  tell_({ status, attempt, failures }: CallState): void {
    const now = performance.now();
    const { status_: before, since_: start, what_: what } = this;
    // A probe after a wait for the circuit, and an attempt after another, are both "loading".
    const news = `${status} ${attempt}`;
    if (news === before) return;
    const properties = [["failures", failures.length]];
    if (before) {
      const detail = { devtools: { track: TRACK, properties } };
      performance.measure(`${what} ${before}`, { start, end: now, detail });
    }
    performance.mark(`${what} ${news}`, { startTime: now, detail: { devtools: { dataType: "marker", properties } } });
    this.status_ = news;
    this.since_ = now;
  }
}
