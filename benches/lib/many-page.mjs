// Many calls that wait at once, in a page: `hold()` begins them, the others look at them and end them.
import { ConstantBackoff, handleAll, retry } from "cockatiel";
import { peers } from "../peers.mjs";

export { countMemory } from "../../tests/support/endings.mjs";

/** None of these waits ends by itself. */
const LONG = 3_600_000;
/** How long it takes at most until all wait, or have heard of an abort. */
const PATIENCE = 30_000;
const ORIGIN = "http://127.0.0.1";

const { setTimeout, clearTimeout } = globalThis;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const timers = new Set();
/** How long each took that was due. */
let wakes = [];

let answered = 0;
/** States of ours that say that a call has begun to wait, and all others of its wait. */
let entered = 0;
let ticks = 0;

async function fetch() {
  answered++;
  return new Response(null, { status: 503 });
}

/** The countdown of each call is looked at, as something that shows it would. */
function look({ status, remaining, delay }) {
  if (status === "circuit-open" || (status === "waiting" && remaining === delay)) entered++;
  else if (status === "waiting") ticks++;
}

/** A client of ours, each of whose calls is looked at. */
const ours = (client) => (signal) => {
  const call = client.start(ORIGIN, { signal });
  call.subscribe(look);
  return call;
};

const theirs = (name) => () => {
  const call = peers[name].make(fetch, { wait: LONG });
  return (signal) => ({ response: call(ORIGIN, { signal }) });
};

/** Each makes what begins a call. Circuits are left out: they would open, and nothing would wait. */
const subjects = {
  steadfetch: () => ours(peers["steadfetch, no breaker"].make(fetch, { wait: LONG })),
  /** Ours once more: all in the queue of one circuit. */
  queue() {
    const client = peers.steadfetch.make(fetch).extend({ onCircuitOpen: "wait" });
    client.circuits.isolate(ORIGIN);
    return ours(client);
  },
  loop: theirs("loop"),
  ky: theirs("ky"),
  "p-retry": theirs("p-retry"),
  cockatiel() {
    const failures = handleAll.orWhenResult(({ status }) => status === 503);
    const policy = retry(failures, { maxAttempts: 3, backoff: new ConstantBackoff(LONG) });
    return (signal) => ({ response: policy.execute(() => fetch(), signal) });
  },
};

export const isOurs = (name) => name === "steadfetch" || name === "queue";

let subject;
let begin;
let controller;
let calls;
let settled;
/** Called when all have. */
let over;
/** Timers of calls before that could not be ended. */
let others;

/** So many more calls wait now, unless that takes too long. */
async function add(count) {
  const end = performance.now() + PATIENCE;
  const mine = isOurs(subject);
  const wanted = count + (mine ? entered : answered);
  const { signal } = controller;
  const done = () => {
    settled++;
    if (settled === calls.length) over?.();
  };
  for (let i = 0; i < count; i++) {
    const call = begin(signal);
    call.response.then(done, done);
    calls.push(call);
    if (i % 1_000 === 999 && performance.now() > end) return false;
  }
  while ((mine ? entered : answered) < wanted) {
    if (performance.now() > end) return false;
    await null;
  }
  return true;
}

/** Begins so many calls, and is over once all of them wait. @returns {Promise<number | null>} how long that took, null for too long */
export async function hold(name, count) {
  subject = name;
  begin = subjects[name]();
  controller = new AbortController();
  calls = [];
  settled = 0;
  over = undefined;
  others = timers.size;
  const began = performance.now();
  return (await add(count)) ? performance.now() - began : null;
}

/** Ends all of them by the signal that they share. @returns {Promise<number | null>} how long it took, null for too long */
export async function abort() {
  const all = new Promise((resolve) => {
    over = () => resolve(performance.now() - began);
  });
  const began = performance.now();
  controller.abort();
  const took = await Promise.race([all, sleep(PATIENCE)]);
  calls = [];
  return took ?? null;
}

/** From now on timers are counted: those that are set, and how long each one takes when it is due. */
export function watchTimers() {
  globalThis.setTimeout = (act, ms, ...args) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const began = performance.now();
      act(...args);
      wakes.push(performance.now() - began);
    }, ms);
    timers.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer);
    clearTimeout(timer);
  };
}

/** What happens in so many milliseconds while all wait. */
export async function beat(ms) {
  wakes = [];
  ticks = 0;
  await sleep(ms);
  return { timers: timers.size - others, wakes: wakes.length, ticks, busy: wakes };
}

/** What each of so many more calls costs beside those that wait, in microseconds. */
export async function costs(count) {
  const each = async (act) => {
    const began = performance.now();
    await act();
    return ((performance.now() - began) * 1_000) / count;
  };
  const held = calls.length;
  const begun = await each(() => add(count));
  const more = calls.slice(held);
  const again =
    subject === "queue"
      ? null
      : await each(async () => {
          const wanted = entered + count;
          for (const call of more) call.retryNow();
          while (entered < wanted) await null;
        });
  const cancelled = await each(() => {
    for (const { cancel } of more) cancel();
  });
  calls.length = held;
  await sleep(0);
  settled -= count;
  return { begun, again, cancelled };
}
