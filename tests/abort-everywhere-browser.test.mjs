// What abort-everywhere.test.mjs does in Node, in a page: with fewer ways to give up, and fewer seeds.

import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { judge } from "./support/aborts/judge.mjs";
import { scenarios, unsteady } from "./support/aborts/scenarios.mjs";
import { except, launch, title } from "./support/browser.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const PATIENCE = { timeout: 120_000 };
const SEED = Number(process.env.STEADFETCH_ABORT_SEED ?? 1);

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

  test("three calls with one signal, by 20 seeds", { ...PATIENCE, ...except(unsteady) }, async (t) => {
    const result = await page.evaluate(async (seed) => {
      const [steadfetch, { exploreSeeds }] = await Promise.all(
        ["steadfetch", "/explore.mjs"].map((path) => import(path)),
      );
      return exploreSeeds(steadfetch, seed, 20);
    }, SEED);
    judge(t, result);
  });
});
