// The core, made into an instance when it is first needed: WebAssembly, or where that is refused the same as JavaScript.
import { instantiate, loadScript } from "#wasm";
import { mono } from "./platform.ts";

declare const STEADFETCH_BUILD: string;

/** What src/web/exports.rs exports. What is given as a pointer is one that was got from here. */
export interface Core {
  readonly memory: { readonly buffer: ArrayBuffer };
  family(high: number, low: number, mono: number, wall: number, page: number): number;
  free(family: number): void;
  room(family: number, bytes: number): number;
  rows(family: number): number;
  at(family: number, mono: number, wall: number, page: number): void;
  next(family: number): number;
  policy(family: number, statuses: number, methods: number): number;
  release_policy(policy: number): void;
  listed(family: number, policy: number, method: number): number;
  resolve(family: number, policy: number, text: number, isUrl: boolean): number;
  insert(family: number, policy: number, circuit: number, traits: number, hooks: number, run: number): number;
  attempts(policy: number): number;
  handle(family: number, slot: number, input: number, seq: number, value: number): number;
  outcome(
    family: number,
    slot: number,
    seq: number,
    status: number,
    failure: number,
    wait: number,
    limited: boolean,
  ): number;
  hint(
    family: number,
    retryAfter: number,
    rateLimitReset: number,
    xRateLimitReset: number,
    date: number,
    aged: boolean,
    wall: number,
  ): number;
  look(family: number, slot: number, seq: number): number;
  keep_alive(family: number, slot: number, seq: number, bytes: number): number;
  release(bytes: number): void;
  rang(family: number): void;
  wake(family: number): number;
  observe(family: number, observed: boolean): void;
  snapshot(family: number): void;
  circuits(family: number): number;
  kept(family: number): number;
  restore(
    family: number,
    policy: number,
    key: number,
    open: number,
    doublings: number,
    reason: number,
    milli: number,
    age: number,
    parked: number,
    status: number,
  ): void;
  hear(
    family: number,
    policy: number,
    key: number,
    kind: number,
    tab: number,
    a: number,
    b: number,
    c: number,
    d: number,
  ): void;
  isolate(family: number, policy: number, key: number): number;
  let_go(family: number, circuit: number): void;
  reset(family: number, key: number): void;
}
/** How long calls wait for the script, and how long after a failure it is not asked for again. */
const PATIENCE = 10_000;

let there: Core | undefined;
/** Why WebAssembly is not to be had, as long as nothing else is. */
let refused: Error | undefined;
/** While the script loads. */
let coming: Promise<void> | undefined;
let failedAt = Number.NEGATIVE_INFINITY;
/** What waits for the core. */
const later: (() => void)[] = [];

const refuse = (cause: unknown, text: string): void => {
  refused = new Error(`steadfetch: WebAssembly is refused here (${cause}), ${text}`, { cause });
};

/** Throws while it is not there. */
export function core(): Core {
  if (there) return there;
  if (!refused) {
    try {
      return (there = instantiate());
    } catch (cause) {
      refuse(cause, "and its stand-in in JavaScript is not there yet: await client.ready()");
    }
  }
  if (!coming && mono() - failedAt >= PATIENCE) coming = inTime((refused as Error).cause);
  throw refused;
}

/** Late is better than never: a script that comes after that serves the next call. */
async function inTime(cause: unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not come within ${PATIENCE} ms`)), PATIENCE);
    (timer as { unref?: () => void }).unref?.();
  });
  try {
    await Promise.race([load(), late]);
  } catch (error) {
    failedAt = mono();
    refuse(
      cause,
      `and its stand-in in JavaScript cannot be loaded (${error}). A Content-Security-Policy has to allow ` +
        "'wasm-unsafe-eval' in script-src, or else the script fallback.js. Scripts have to arrive unaltered, as UTF-8, and " +
        "of one release. With degrade: true calls go through without retries.",
    );
  }
  clearTimeout(timer);
  coming = undefined;
}

async function load(): Promise<void> {
  const { build, default: make } = await loadScript();
  // Another try may have been faster.
  if (there) return;
  if (build !== STEADFETCH_BUILD) throw new Error("it is of another release: the page has to be reloaded");
  there = make();
  refused = undefined;
  for (const act of later.splice(0)) attempt(act);
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Calls say what is wrong.
  }
}

/** What throws because there is no core is done once there is one; other errors are thrown. */
export function withCore(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!isRefused(error)) throw error;
    later.push(act);
  }
}

/** Ends when the core is there or cannot be had; undefined while nothing is on its way. */
export const onItsWay = (): Promise<void> | undefined => coming;

/** Whether it says that there is no core, and not that the caller did something wrong. */
export const isRefused = (error: unknown): boolean => error !== undefined && error === refused;
