// Random crash schedules, some of those that `npm run crashes` has: tabs die, the server misbehaves, and a last tab sees all
// delivered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { launch } from "./support/browser.mjs";
import { pointNames } from "./support/crashes/build.mjs";
import { plan } from "./support/crashes/plan.mjs";
import { crashes } from "./support/crashes/run.mjs";

const PATIENCE = { timeout: 600_000 };
const SEED = Number(process.env.STEADFETCH_CRASH_SEED ?? 2026);

const again = ({ nth, wrong, result }) =>
  `npm run crashes -- --seed=${SEED} --first=${nth} --schedules=1: ${wrong.join("; ")}, after ${JSON.stringify(result.kills)}`;

test("of what was stored nothing is lost, doubled in effect or out of order", PATIENCE, async (t) => {
  const { total, wrong } = await crashes(await launch(), { schedules: 150, seed: SEED });
  t.diagnostic(JSON.stringify(total));
  assert.deepEqual(wrong.map(again), []);
  assert.ok(total.crashes > 150 && total.accepted > 300, "hardly anything happened");
  assert.equal(total.delivered, total.accepted);
});

test("an outbox that forgets an entry before its answer is seen to lose some", PATIENCE, async () => {
  const { total } = await crashes(await launch(), { schedules: 10, seed: SEED, careless: true });
  assert.ok(total.lost > 0);
});

test("a server that knows no key again is seen to double some", PATIENCE, async () => {
  const { total } = await crashes(await launch(), { schedules: 10, seed: SEED, dedupe: false });
  assert.ok(total.doubled > 0);
});

test("a schedule is made of its seed", async () => {
  const points = await pointNames();
  assert.deepEqual(plan(7, 3, points), plan(7, 3, points));
  assert.notDeepEqual(plan(7, 3, points), plan(8, 3, points));
});
