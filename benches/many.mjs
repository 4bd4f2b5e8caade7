// Calls that wait at once, from one to a hundred thousand: what each takes of memory and time, and how often the page wakes.
import { heapOf } from "../tests/support/heap.mjs";
import { bundle } from "./lib/bundle.mjs";
import { digits, ratio, spread, table } from "./lib/figures.mjs";
import { inPage } from "./lib/page.mjs";
import { lines } from "./lib/plot.mjs";

export const title = "Many calls that wait at once";

/** What is compared, and how many calls of it wait. */
const CROWDS = [10_000, 100_000];
const SUBJECTS = ["steadfetch", "cockatiel", "ky", "p-retry", "loop"];
/** Of ours, what each event costs beside how many others. */
const BESIDE = [1, 10, 100, 1_000, 10_000, 100_000];
const OURS = ["steadfetch", "queue"];
const WARM = 1_000;
const MOMENT = 5_000;
const ROUNDS = 9;
const EVENTS = 100;

const PAGE = 'export * from "./lib/many-page.mjs";';
/** Only isolated pages have a clock that is fine enough. */
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

/** @param {{ calls?: number | string, only?: string }} [options]  at most so many at once; of these names, with commas between */
export async function run({ calls = Number.POSITIVE_INFINITY, only } = {}) {
  const asked = (names) => names.filter((name) => !only || only.split(",").includes(name));
  const upTo = (counts) => counts.filter((count) => count <= Number(calls));
  const code = await bundle(PAGE);
  const crowds = [];
  for (const count of upTo(CROWDS)) {
    for (const name of asked(SUBJECTS)) {
      console.log(`${count.toLocaleString("en-GB")} calls of ${name}`);
      crowds.push({ name, count, seen: await crowd(code, name, count) });
    }
  }
  const growth = {};
  for (const name of asked(OURS)) {
    growth[name] = [];
    for (const count of upTo(BESIDE)) growth[name].push({ count, ...(await beside(code, name, count)) });
  }
  return { crowds, growth };
}

/** In a page where some have waited before, so that its code is compiled. */
function warm(code, name, act) {
  return inPage(
    "chromium",
    code,
    async (page) => {
      const heap = await heapOf(page);
      await page.evaluate(
        async ([name, count]) => {
          const { bench } = globalThis;
          globalThis.memory = bench.countMemory();
          bench.watchTimers();
          await bench.hold(name, count);
          await bench.beat(1_500);
          if (bench.isOurs(name)) for (let i = 0; i < 10; i++) await bench.costs(100);
          await bench.abort();
        },
        [name, WARM],
      );
      return act(page, heap);
    },
    { headers: ISOLATED },
  );
}

function crowd(code, name, count) {
  return warm(code, name, async (page, heap) => {
    const memory = async () => {
      const { script, behind } = await heap();
      return { script, behind, wasm: await page.evaluate(() => globalThis.memory()) };
    };
    const before = await memory();
    const begun = await page.evaluate(([name, count]) => globalThis.bench.hold(name, count), [name, count]);
    if (begun === null) return null;
    const after = await memory();
    const { timers, wakes, ticks, busy } = await page.evaluate((ms) => globalThis.bench.beat(ms), MOMENT);
    const cancelled = await page.evaluate(() => globalThis.bench.abort());
    const bytes = Object.fromEntries(Object.keys(before).map((key) => [key, (after[key] - before[key]) / count]));
    const perSecond = (number) => (number * 1_000) / MOMENT;
    const { median, values } = spread(busy);
    const tick = { median, longest: Math.max(0, ...values), share: perSecond(values.reduce((a, b) => a + b, 0)) };
    return { begun, bytes, timers, wakes: perSecond(wakes), ticks: perSecond(ticks), tick, cancelled };
  });
}

function beside(code, name, count) {
  return warm(code, name, async (page) => {
    await page.evaluate(([name, count]) => globalThis.bench.hold(name, count), [name, count]);
    const { ticks, busy } = await page.evaluate((ms) => globalThis.bench.beat(ms), MOMENT);
    const rounds = await page.evaluate(
      async ([rounds, events]) => {
        const all = [];
        for (let i = 0; i < rounds; i++) all.push(await globalThis.bench.costs(events));
        return all;
      },
      [ROUNDS, EVENTS],
    );
    const aborts = [await page.evaluate(() => globalThis.bench.abort())];
    // Of few calls one end alone says little.
    for (let i = 1; i < ROUNDS && count <= WARM; i++) {
      aborts.push(
        await page.evaluate(
          async ([name, count]) => {
            await globalThis.bench.hold(name, count);
            return globalThis.bench.abort();
          },
          [name, count],
        ),
      );
    }
    const over = (key) => spread(rounds.map((round) => round[key]));
    return {
      begin: over("begun"),
      again: rounds[0].again === null ? null : over("again"),
      cancel: over("cancelled"),
      tick: ticks ? (busy.reduce((a, b) => a + b, 0) * 1_000) / ticks : null,
      abort: spread(aborts.map((ms) => (ms * 1_000) / count)),
    };
  });
}

const count = (number) => Math.round(number).toLocaleString("en-GB");
const WORDS = { loop: "hand-written loop", queue: "steadfetch, in the queue of a circuit" };
const word = (name) => WORDS[name] ?? name;
const all = ({ script, behind, wasm }) => script + behind + wasm;

function row(name, number, seen, own) {
  const title = name === "steadfetch" ? "**steadfetch**" : word(name);
  if (!seen) return [title, "", "", "", "", "", "", "", "not within 30 s", ""];
  const { bytes, timers, wakes, tick, cancelled, begun } = seen;
  return [
    title,
    count(bytes.wasm),
    count(bytes.script),
    count(bytes.behind),
    own ? ratio(all(own.bytes), all(bytes)) : "",
    count(timers),
    digits(wakes, 2),
    wakes ? `${digits(tick.median, 2)} / ${digits(tick.longest, 2)}` : "",
    digits((begun * 1_000) / number, 2),
    cancelled === null ? "not within 30 s" : count(cancelled),
  ];
}

export function tell({ crowds, growth }) {
  const counts = [...new Set(crowds.map(({ count }) => count))];
  const sections = counts.map((number) => {
    const those = crowds.filter((crowd) => crowd.count === number);
    const own = those.find(({ name }) => name === "steadfetch")?.seen;
    const rows = those.map(({ name, seen }) => row(name, number, seen, own));
    return `${count(number)} calls:

${table(
  [
    "",
    "WebAssembly, bytes a call",
    "objects, bytes a call",
    "behind them, bytes a call",
    "ours is",
    "timers",
    "wake-ups a second",
    "a wake-up, ms: median / longest",
    "begin, μs a call",
    "end all by one signal, ms",
  ],
  rows,
)}`;
  });
  const events = Object.entries(growth).map(([name, rows]) => {
    const keys = Object.keys(EVENT_WORDS).filter((key) => rows.every((row) => row[key] !== null));
    return `${word(name)}, μs an event:

${table(
  ["calls that wait", ...keys.map((key) => EVENT_WORDS[key])],
  rows.map((row) => [count(row.count), ...keys.map((key) => digits(row[key].median ?? row[key], 2))]),
)}`;
  });
  return `All wait an hour for their next attempt, with a signal that they share. Each of ours has a listener that is told of its
countdown every second; the others have no countdown and tell nothing. The memory is that of Chromium, by its own measure after
garbage collection: objects of JavaScript, what is behind them in the browser, such as the inside of a Request, and the memory of
the WebAssembly. Ours keeps for each call what is sent again, a Request with a signal of its own; ky does too. The hand-written loop,
p-retry and cockatiel leave that to the fetch that they call, which is a stub here.

${sections.join("\n")}
What an event costs beside so many calls that wait: the begin of another until it waits, \`retryNow()\` until it waits again,
\`cancel()\`, one call's step of the countdown, and one call's share of the end of all by one signal.

${events.join("\n")}`;
}

const EVENT_WORDS = { begin: "begin", again: "try now", cancel: "cancel", tick: "tick", abort: "end by the signal" };

export function plots({ crowds, growth }) {
  // Of a part of it no picture is made.
  if (!crowds.length || !OURS.every((name) => growth[name])) return {};
  const largest = Math.max(...crowds.map(({ count }) => count));
  const memory = [...new Set(crowds.map(({ name }) => name))].map((name) => ({
    label: word(name),
    own: name === "steadfetch",
    points: crowds
      .filter((crowd) => crowd.name === name && crowd.seen)
      .map(({ count, seen }) => [count, (all(seen.bytes) * count) / 1_000_000]),
  }));
  const events = Object.entries(EVENT_WORDS).map(([key, label]) => ({
    label,
    points: growth.steadfetch.filter((row) => row[key] !== null).map((row) => [row.count, row[key].median ?? row[key]]),
  }));
  const queue = {
    label: "leave the queue",
    points: growth.queue.map(({ count, abort }) => [count, abort.median]),
  };
  return {
    "memory.svg": lines({
      title: "Memory of calls that wait",
      desc: `Up to ${count(largest)} at once, in Chromium after garbage collection, WebAssembly included`,
      x: { label: "calls", log: true },
      y: { label: "MB", log: true },
      series: memory,
    }),
    "growth.svg": lines({
      title: "What an event costs beside many calls",
      desc: "steadfetch in Chromium; a line that is level is as fast among a hundred thousand as alone",
      x: { label: "calls that wait", log: true },
      y: { label: "μs an event", log: true },
      series: [...events, queue],
    }),
  };
}
