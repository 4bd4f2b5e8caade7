// What survives a reload by snapshot() and restore.

import assert from "node:assert/strict";
import { describe } from "node:test";
import fc from "fast-check";
import { createFetch } from "../pkg/dist/index.js";
import { answer, B0, over, scenario, URL_ } from "./support/cases.mjs";
import { KEY, resolved } from "./support/cases-shared.mjs";

const BUDGET = { retry: { limit: 4, delay: 10, jitter: "none" }, breaker: false, timeout: false };

async function tripped(page, options = B0) {
  const client = createFetch(options);
  page.script(503);
  for (let i = 0; i < 3; i++) page.see(client(URL_));
  await page.to(page.t);
  assert.equal(client.circuits.get(KEY).status, "open");
  return client;
}

/** What console.warn is told meanwhile. */
function warned(act) {
  const { warn } = console;
  const texts = [];
  console.warn = (text) => texts.push(text);
  try {
    act();
  } finally {
    console.warn = warn;
  }
  return texts;
}

describe("what survives a reload", () => {
  scenario("an outage stays an outage, and ends when it would have", async (page) => {
    const before = await tripped(page);
    await page.to(400);
    const text = before.snapshot();
    before.dispose();
    // Another page, with a monotonic clock of its own.
    page.monoShift = -5_000;
    await page.to(600);
    const client = createFetch(B0, { restore: text });
    const [circuit] = client.circuits.getSnapshot();
    assert.deepEqual([circuit.key, circuit.status, circuit.reason], [KEY, "open", "consecutive"]);
    assert.ok(Math.abs(circuit.openUntil - (page.wall + 400)) <= 1);
    page.script(200);
    const refused = page.see(client(URL_));
    await page.to(601);
    assert.equal(refused.error?.name, "CircuitOpenError");
    await page.to(1_010);
    const probe = page.see(client(URL_));
    const second = page.see(client(URL_));
    await page.to(1_020);
    resolved(probe, 1_010, 200);
    assert.equal(second.error?.name, "CircuitOpenError");
    assert.equal(client.circuits.get(KEY).status, "closed");
  });

  scenario("an outage whose time has passed meanwhile is half-open, not closed", async (page) => {
    const text = (await tripped(page)).snapshot();
    await page.to(60_000);
    const client = createFetch(B0, { restore: text });
    assert.equal(client.circuits.get(KEY).status, "half-open");
    page.script(503);
    page.see(client(URL_));
    const second = page.see(client(URL_));
    await page.to(60_001);
    assert.equal(second.error?.name, "CircuitOpenError");
    assert.equal(page.calls.length, 1);
  });

  scenario("a half-open circuit is half-open again, and its lost probe blocks nobody", async (page) => {
    const before = await tripped(page);
    await page.to(1_000);
    page.script("pend");
    page.see(before(URL_));
    await page.to(1_001);
    const text = before.snapshot();
    before.dispose();
    const client = createFetch(B0, { restore: text });
    page.script(200);
    const seen = page.see(client(URL_));
    await page.to(1_002);
    resolved(seen, 1_001, 200);
    assert.equal(client.circuits.get(KEY).status, "closed");
  });

  scenario("the open time goes on growing", async (page) => {
    const growing = over(B0, { breaker: { maxOpen: 64_000 } });
    const before = await tripped(page, growing);
    page.script(503);
    for (let i = 0; i < 4; i++) {
      await page.to(before.circuits.get(KEY).openUntil - page.wall + page.t);
      page.see(before(URL_));
      await page.to(page.t);
    }
    const text = before.snapshot();
    await page.to(page.t + 100_000);
    const client = createFetch(growing, { restore: text });
    page.see(client(URL_));
    await page.to(page.t);
    assert.ok(client.circuits.get(KEY).remaining >= 16_000, `${client.circuits.get(KEY).remaining}`);
  });

  scenario("what is held by hand, and what is closed, is not kept", async (page) => {
    const before = createFetch(B0);
    before.circuits.isolate("https://b.test");
    page.script(404);
    page.see(before(URL_));
    await page.to(0);
    const client = createFetch(B0, { restore: before.snapshot() });
    assert.deepEqual(client.circuits.getSnapshot(), []);
  });

  scenario("an outage is kept while its circuit is held by hand", async (page) => {
    const before = await tripped(page);
    before.circuits.isolate(KEY);
    const client = createFetch(B0, { restore: before.snapshot() });
    const { status, reason } = client.circuits.get(KEY);
    assert.deepEqual([status, reason], ["open", "consecutive"]);
  });

  scenario("a Retry-After holds all calls back still, for the rest of its time", async (page) => {
    const before = createFetch(B0);
    page.script(() => Promise.resolve(answer(429, { headers: { "retry-after": "5" } })));
    page.see(before(URL_));
    await page.to(1_000);
    const text = before.snapshot();
    before.dispose();
    await page.to(2_000);
    const client = createFetch(B0, { restore: text });
    page.script(200);
    const call = client.start(URL_);
    await page.to(2_100);
    const { status, source, cause } = call.state;
    assert.deepEqual([status, source, cause.status], ["waiting", "retry-after", 429]);
    assert.ok(Math.abs(call.state.retryAt - (page.wall + 2_900)) <= 500, `${call.state.retryAt - page.wall}`);
    await page.to(6_000);
    assert.equal(call.state.status, "success");
    // Another page after its time.
    page.script(200);
    const late = createFetch(B0, { restore: text }).start(URL_);
    await page.to(6_001);
    assert.equal(late.state.status, "success");
  });

  scenario("a budget is as empty as it was, and has been refilled since", async (page) => {
    const spend = async (client) => {
      page.script(503);
      const seen = page.see(client(URL_));
      await page.to(page.t + 500);
      assert.equal(seen.value?.status, 503);
      return page.calls.length;
    };
    const before = createFetch(BUDGET);
    assert.equal(await spend(before), 5);
    assert.equal(await spend(before), 1);
    const text = before.snapshot();
    const client = createFetch(BUDGET, { restore: text });
    assert.equal(await spend(client), 1);
    const fresh = createFetch(BUDGET);
    assert.equal(await spend(fresh), 5);
    await page.to(page.t + 30_000);
    assert.equal(await spend(createFetch(BUDGET, { restore: text })), 3);
    // Nothing has happened since, but time has passed.
    assert.equal(await spend(createFetch(BUDGET, { restore: before.snapshot() })), 3);
    // Without a budget, or without a circuit, there is nothing to restore to.
    assert.equal(await spend(createFetch({ ...BUDGET, budget: false }, { restore: text })), 5);
  });

  scenario("nothing is restored from nothing", async () => {
    for (const restore of [undefined, null]) {
      assert.deepEqual(
        warned(() => createFetch(B0, { restore })),
        [],
      );
    }
    const empty = createFetch(B0).snapshot();
    assert.deepEqual(
      warned(() => createFetch(B0, { restore: empty })),
      [],
    );
  });

  scenario("what is no snapshot is ignored with one warning, and the client works", async (page) => {
    const good = JSON.parse((await tripped(page)).snapshot());
    const mixed = (change) => JSON.stringify({ ...good, ...change });
    page.script(200);
    for (const restore of [
      "",
      "x",
      "null",
      "7",
      "[]",
      "{}",
      5,
      {},
      mixed({ steadfetch: 1 }),
      mixed({ at: "now" }),
      mixed({ keys: {} }),
      mixed({ keys: [7] }),
      mixed({ keys: [[]] }),
      mixed({ keys: [[KEY, "soon", 0, 1, 0, 0, null, 0]] }),
      mixed({ keys: [[KEY, 5, 0, 1, null, 0, null, 0]] }),
      mixed({ keys: [[7, 5, 0, 1, 0, 0, null, 0]] }),
      mixed({ keys: [[KEY, 5, 0, 1, 0, 0]] }),
      mixed({ keys: [[KEY, 5, 0, 1, 0, 0, "soon", 429]] }),
      mixed({ keys: [[KEY, 5, 0, 1, 0, 0, 5, null]] }),
      mixed({ keys: [["k".repeat(2_049), 5, 0, 1, 0, 0, null, 0]] }),
      "[".repeat(100_000),
    ]) {
      let client;
      const texts = warned(() => {
        client = createFetch(B0, { restore });
      });
      assert.equal(texts.length, 1, String(restore).slice(0, 80));
      assert.match(texts[0], /^steadfetch: .* is ignored/);
      assert.deepEqual(client.circuits.getSnapshot(), []);
    }
    const seen = page.see(createFetch(B0)(URL_));
    await page.to(page.t);
    assert.equal(seen.value?.status, 200);
  });

  scenario("numbers out of all bounds have a bounded effect", async (page) => {
    const numbers = fc.oneof(
      fc.constantFrom(0, -1, 1, -1e300, 1e300, Number.MAX_SAFE_INTEGER, 2 ** 32, 2 ** 53, 1e-9, 0.5),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
    );
    const until = fc.oneof(numbers, fc.constant(null));
    const entry = fc.tuple(fc.string(), until, numbers, numbers, numbers, numbers, until, numbers);
    const saved = fc.record({ steadfetch: fc.constant(2), at: numbers, keys: fc.array(entry, { maxLength: 5 }) });
    fc.assert(
      fc.property(saved, (saved) => {
        const client = createFetch({}, { restore: JSON.stringify(saved) });
        try {
          for (const { openUntil, remaining } of client.circuits.getSnapshot()) {
            assert.ok(openUntil === null || openUntil <= page.wall + 86_400_000 + 1);
            assert.ok(remaining >= 0 && remaining <= 86_400_000);
          }
          assert.ok(client.circuits.getSnapshot().length <= saved.keys.length);
        } finally {
          client.dispose();
        }
      }),
      { seed: 5, numRuns: 2_000 },
    );
    page.script(() => Promise.resolve(answer(200)));
    const many = { steadfetch: 2, at: page.wall, keys: [] };
    for (let i = 0; i < 5_000; i++) many.keys.push([`k${i}`, page.wall + 1_000, 0, 1, 0, 0, null, 0]);
    const client = createFetch(B0, { restore: JSON.stringify(many) });
    assert.equal(client.circuits.getSnapshot().length, 1_000);
  });
});
