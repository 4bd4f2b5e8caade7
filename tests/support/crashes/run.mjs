// Random crash schedules in Chromium, against a server that keeps a book of every request and of every effect.
import { startServer } from "../server.mjs";
import { crashFiles, pointNames } from "./build.mjs";
import { effects } from "./effects.mjs";
import { plan } from "./plan.mjs";

/** Each context has connections, a store and a process of its own; in each, schedules run at the same time. */
const CONTEXTS = 2;
const AT_ONCE = 4;

/**
 * Figures of so many schedules. `dedupe: false` is a server that does not know a key again, `careless` a store that
 * forgets before the answer is there: each shows that what it breaks is seen.
 */
export async function crashes(browser, { schedules, seed, first = 0, dedupe = true, careless = false, tell }) {
  const answers = new Map();
  const book = effects((entry, nth) => answers.get(entry)?.[nth] ?? "ok", { dedupe });
  const server = await startServer({ files: await crashFiles() });
  server.script("/write", (hit) => book.step(hit));
  const total = {
    schedules: 0,
    crashes: 0,
    accepted: 0,
    delivered: 0,
    sentAgain: 0,
    doubled: 0,
    lost: 0,
    outOfOrder: 0,
  };
  const names = await pointNames();
  const points = {};
  const wrong = [];
  const next = Array.from({ length: schedules }, (_, index) => first + index);

  async function work(page) {
    for (let nth = next.shift(); nth !== undefined; nth = next.shift()) {
      const { answers: given, ...schedule } = plan(seed, nth, names);
      for (const [entry, list] of Object.entries(given)) answers.set(entry, list);
      const result = await page.evaluate(async (schedule) => (await import("/crashes/page.mjs")).run(schedule), {
        ...schedule,
        careless,
      });
      const judged = judge(schedule, result, book.writes);
      for (const [name, count] of Object.entries(judged.figures)) total[name] += count;
      for (const { point } of result.kills) points[point] = (points[point] ?? 0) + 1;
      if (judged.wrong.length) wrong.push({ nth, wrong: judged.wrong, schedule, given, result });
      tell?.(total);
    }
  }

  const contexts = await Promise.all(Array.from({ length: CONTEXTS }, () => browser.newContext()));
  try {
    await Promise.all(
      contexts.map(async (context) => {
        const page = await context.newPage();
        await page.goto(server.url);
        await Promise.all(Array.from({ length: AT_ONCE }, () => work(page)));
      }),
    );
  } finally {
    await Promise.all(contexts.map((context) => context.close()));
    await server.close();
  }
  return { total, points, wrong };
}

/** What the server's book says of the entries of a schedule. */
export function judge({ entries }, { stored, ids, revived, kills = [], faults = [], left }, writes) {
  const wrong = faults.map((fault) => `fault: ${fault}`);
  const of = (entry) => writes.get(entry) ?? { sends: 0, effects: [], keys: new Set() };
  // What was delivered had been stored, though nobody lived to say so.
  const accepted = entries.map(({ entry }) => entry).filter((entry) => stored.includes(entry) || of(entry).sends);
  const delivered = accepted.filter((entry) => of(entry).effects.length > 0);
  const lost = accepted.filter((entry) => !of(entry).effects.length);
  const doubled = accepted.filter((entry) => of(entry).effects.length > 1 || of(entry).keys.size > 1);
  let outOfOrder = 0;
  const queues = [...new Set(entries.map(({ queue }) => queue))];
  for (const queue of queues) {
    // A dead letter that was taken up again has lost its place.
    const line = entries
      .filter((entry) => entry.queue === queue)
      .map(({ entry }) => entry)
      .filter((entry) => entry in ids && of(entry).effects.length && !revived.includes(entry))
      .sort((one, other) => ids[one] - ids[other]);
    for (let place = 1; place < line.length; place++) {
      const [before, after] = [line[place - 1], line[place]].map((entry) => of(entry).effects[0]);
      if (before > after) {
        outOfOrder++;
        wrong.push(`${line[place]} before ${line[place - 1]}`);
      }
    }
  }
  for (const entry of lost) wrong.push(`lost: ${entry}`);
  for (const entry of doubled) wrong.push(`doubled: ${entry}`);
  if (left) wrong.push(`${left} are left in the store`);
  const sent = accepted.reduce((sum, entry) => sum + of(entry).sends, 0);
  return {
    figures: {
      schedules: 1,
      crashes: kills.length,
      accepted: accepted.length,
      delivered: delivered.length,
      sentAgain: sent - accepted.filter((entry) => of(entry).sends).length,
      doubled: doubled.length,
      lost: lost.length,
      outOfOrder,
    },
    wrong,
  };
}
