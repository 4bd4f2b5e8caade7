// The caller gives up at each step of a call in turn, in each way there is: the very reason within a macrotask, no hook
// and no request after it, nothing left behind, and a client that works.
//
//   STEADFETCH_ABORT_SEED=1 STEADFETCH_ABORT_SEEDS=20000 node --test --test-name-pattern=seeds tests/abort-everywhere.test.mjs
//
// tests/support/aborts/world.mjs says what a step is, scenarios.mjs what the calls go through, explore.mjs what is
// looked at. abort-everywhere-browser.test.mjs does the same in a page.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as steadfetch from "../pkg/dist/index.js";
import { explore, exploreSeeds } from "./support/aborts/explore.mjs";
import { judge } from "./support/aborts/judge.mjs";
import { scenarios } from "./support/aborts/scenarios.mjs";

const PATIENCE = { timeout: 120_000 };
const SEED = Number(process.env.STEADFETCH_ABORT_SEED ?? 1);
const SEEDS = Number(process.env.STEADFETCH_ABORT_SEEDS ?? 300);

describe("giving up at every step", () => {
  const seen = new Set();

  for (const scenario of scenarios) {
    test(scenario.name, PATIENCE, async (t) => {
      const result = await explore(steadfetch, scenario);
      for (const name of result.names) seen.add(name.split(/[ ,]/)[0]);
      judge(t, result);
    });
  }

  test("the scenarios have steps of every kind", () => {
    const kinds = `microtask before fetch chunk cancel onState subscriber statechange circuit store shouldRetry delay
      beforeRetry key idempotencyKey isFailure bodyFactory the`;
    for (const kind of kinds.split(/\s+/)) assert.ok(seen.has(kind), `no step in ${kind}`);
  });
});

test(`three calls with one signal, ${SEEDS} seeds from ${SEED}`, { timeout: 60_000 + SEEDS * 100 }, async (t) => {
  judge(t, await exploreSeeds(steadfetch, SEED, SEEDS));
});
