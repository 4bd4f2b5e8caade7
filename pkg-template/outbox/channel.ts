// What the tabs of an outbox tell each other: ids, and how their entries look. What is stored is read from the store.
import { answerOf } from "./record.ts";

/** The next one has another number. */
const VERSION = 1;

/** Numbers are those of the core: a view with until when and why, a change; and a status of HTTP, 0 for none. */
export type News =
  | readonly ["hello"]
  | readonly ["sync"]
  | readonly ["added", id: number]
  | readonly ["looks", id: number, view: number, until: number, cause: number, attempts: number, status: number]
  | readonly ["over", id: number, change: number, answer: unknown]
  | readonly ["marked", id: number, rejected: boolean]
  | readonly ["retry-now", id: number]
  | readonly ["flush"]
  | readonly ["flushed", pending: number]
  | readonly ["paused", paused: boolean];

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
/** A moment, or none. */
const isMoment = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const upTo = (most: number) => (value: unknown) => isCount(value) && (value as number) <= most;
const isAnswer = (value: unknown): boolean => value === undefined || answerOf(value) !== undefined;

const SHAPES: Record<string, readonly ((value: unknown) => boolean)[]> = {
  hello: [],
  sync: [],
  added: [isCount],
  looks: [isCount, upTo(3), isMoment, upTo(3), isCount, upTo(599)],
  over: [isCount, upTo(2), isAnswer],
  marked: [isCount, isFlag],
  "retry-now": [isCount],
  flush: [],
  flushed: [isCount],
  paused: [isFlag],
};

/** Any page of the origin may write to it. */
function isNews(data: unknown): data is [number, ...News] {
  if (!Array.isArray(data) || data[0] !== VERSION || typeof data[1] !== "string") return false;
  const shape = Object.hasOwn(SHAPES, data[1]) && SHAPES[data[1]];
  return !!shape && data.length === shape.length + 2 && shape.every((is, place) => is(data[place + 2]));
}

export class Channel {
  private readonly name_: string;
  private readonly channel_: BroadcastChannel | undefined;
  private closed_ = false;

  constructor(name: string, heard: (news: News) => void) {
    this.name_ = `steadfetch-outbox ${name}`;
    try {
      this.channel_ = new BroadcastChannel(this.name_);
    } catch {
      // There is none, or not for this origin: then every tab is alone.
      return;
    }
    this.channel_.onmessage = ({ data }) => {
      if (isNews(data)) heard(data.slice(1) as unknown as News);
    };
    (this.channel_ as { unref?: () => void }).unref?.();
  }

  /** Also after its end: what was being written then is there, and for the others to see to. */
  tell_(...news: News): void {
    try {
      const channel = this.closed_ ? new BroadcastChannel(this.name_) : this.channel_;
      channel?.postMessage([VERSION, ...news]);
      if (this.closed_) channel?.close();
    } catch {
      // There is none, or the browser has closed it.
    }
  }

  close_(): void {
    this.closed_ = true;
    this.channel_?.close();
  }
}
