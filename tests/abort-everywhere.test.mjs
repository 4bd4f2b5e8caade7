// The caller gives up at each step of a call in turn, in each way there is: the very reason within a macrotask, no hook
// and no request after it, nothing left behind, and a client that works.
//
//   STEADFETCH_ABORT_SEED=1 STEADFETCH_ABORT_SEEDS=20000 node --test --test-name-pattern=seeds tests/abort-everywhere.test.mjs
//
// tests/support/aborts/world.mjs says what a step is, scenarios.mjs what the calls go through, explore.mjs what is
// looked at. The same files run in Node and in a page.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import * as steadfetch from "../pkg/dist/index.js";
import { explore, exploreSeeds } from "./support/aborts/explore.mjs";
import { scenarios } from "./support/aborts/scenarios.mjs";
import { except, launch, title } from "./support/browser.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const PATIENCE = { timeout: 120_000 };
const SEED = Number(process.env.STEADFETCH_ABORT_SEED ?? 1);
const SEEDS = Number(process.env.STEADFETCH_ABORT_SEEDS ?? 300);

/** How many faults are shown; one defect shows at many steps. */
const SHOWN = 12;

function judge(t, { runs, steps, faults }) {
  t.diagnostic(`${runs} runs, ${steps} steps`);
  assert.ok(runs > 0);
  const more = faults.length > SHOWN ? [`and ${faults.length - SHOWN} more`] : [];
  assert.equal(faults.length, 0, [...faults.slice(0, SHOWN), ...more].join("\n"));
}

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

describe(`giving up at every step in ${title}`, () => {
  let server;
  let page;

  before(async () => {
    const pages = {};
    for (const name of ["world", "scenarios", "explore"]) {
      const body = await readFile(new URL(`support/aborts/${name}.mjs`, import.meta.url), "utf8");
      pages[`/${name}.mjs`] = { headers: { "Content-Type": "text/javascript" }, body };
    }
    server = await startServer({ files: await packageFiles(pages) });
    page = await (await launch()).newPage();
    await page.goto(server.url);
  });
  after(() => server?.close());

  for (const { name, except: reasons } of scenarios) {
    test(name, { ...PATIENCE, ...except(reasons) }, async (t) => {
      const result = await page.evaluate(async (name) => {
        const [steadfetch, { explore }, { scenarios }] = await Promise.all(
          ["steadfetch", "/explore.mjs", "/scenarios.mjs"].map((path) => import(path)),
        );
        const scenario = scenarios.find((it) => it.name === name);
        return explore(steadfetch, scenario, { ways: ["init", "request", "cancel"], ticks: 4 });
      }, name);
      judge(t, result);
    });
  }

  test("three calls with one signal, by 20 seeds", PATIENCE, async (t) => {
    const result = await page.evaluate(async (seed) => {
      const [steadfetch, { exploreSeeds }] = await Promise.all(
        ["steadfetch", "/explore.mjs"].map((path) => import(path)),
      );
      return exploreSeeds(steadfetch, seed, 20);
    }, SEED);
    judge(t, result);
  });
});
