// What createOutbox() makes: an outbox as a page holds it.
import type { SteadFetch } from "../index.js";
import type { Outbox, OutboxInit, OutboxOptions, OutboxSnapshot } from "../outbox.js";
import { Driver } from "./driver.ts";
import { read } from "./options.ts";

const NONE: readonly never[] = Object.freeze([]);
const EMPTY: OutboxSnapshot = Object.freeze({
  count: 0,
  entries: NONE,
  rejected: NONE,
  paused: false,
  sender: false,
  durable: false,
});

export function createOutbox<Meta = unknown>(client: SteadFetch, options?: OutboxOptions<Meta>): Outbox<Meta> {
  if (typeof client?.start !== "function") throw new TypeError("steadfetch: an outbox needs a client of createFetch()");
  const events = new EventTarget();
  const driver = new Driver(client, read(options as OutboxOptions | undefined), events);
  const dispose = (): void => driver.dispose_();
  return {
    async send(...args: [RequestInfo | URL, OutboxInit?]) {
      if (!args.length) throw new TypeError("steadfetch: send() needs a request");
      return driver.store_(...args);
    },
    get: (id: number) => driver.entry_(id),
    getServerSnapshot: () => EMPTY,
    ...driver.list_.store_(),
    flush: () => driver.flush_(),
    pause: () => driver.pause_(true),
    resume: () => driver.pause_(false),
    persist: async () => !!(await globalThis.navigator?.storage?.persist?.()),
    quarantined: () => driver.quarantined_(),
    addEventListener: (type: string, listener: (event: never) => void, options?: AddEventListenerOptions) =>
      events.addEventListener(type, listener as EventListener, options),
    removeEventListener: (type: string, listener: (event: never) => void, options?: EventListenerOptions) =>
      events.removeEventListener(type, listener as EventListener, options),
    dispose,
    [Symbol.dispose ?? Symbol.for("Symbol.dispose")]: dispose,
  } as unknown as Outbox<Meta>;
}
