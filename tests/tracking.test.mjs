// Frameworks note what is read while they ask a component what it wants. What the options of a request read and write,
// such as a counter in `onState`, is no reason to ask again.
import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { APPS, angular } from "../scripts/lib/apps.mjs";
import { atOnce, launch } from "./support/browser.mjs";
import { buildPages } from "./support/builds.mjs";
import { startServer, until } from "./support/server.mjs";

const sources = fileURLToPath(new URL("support/tracking", import.meta.url));
const TESTED = APPS.filter(({ name }) => ["vue", "svelte", "solid", "angular"].includes(name));

let server;
before(
  async () => {
    const pages = TESTED.map(({ name, main, config }) => {
      const source = path.join(sources, name);
      const own = name === "angular" ? () => angular(path.join(source, "tsconfig.json")) : config;
      return { name, source, main, config: own };
    });
    server = await startServer({ files: await buildPages("tracking", pages) });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

describe("what a request's options read", { concurrency: atOnce(2) }, () => {
  for (const { name, title } of TESTED) {
    test(`is no reason to ask again in ${title}`, { timeout: 60_000 }, async () => {
      assert.equal(await asked(name, ""), await asked(name, "?still"));
    });
  }
});

/** Loads two addresses, each of which fails once. How often the component was asked what it wants. */
async function asked(name, search) {
  const path = `/api/${name}${search && "/still"}`;
  server.script(path, [503, 200, 503, 200]);
  const page = await (await launch()).newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  await page.goto(`${server.url}/${name}/${search}#${path}`);
  // Loading, waiting, loading, success.
  await page.getByText(search ? "success, 0 states" : "success, 4 states").waitFor();
  await page.getByText("Next").click();
  if (!search) await page.getByText("success, 8 states").waitFor();
  await until(() => server.hits(path)[3]?.closed, "the last answer");
  await page.waitForTimeout(300);
  const times = await page.evaluate(() => globalThis.asked);
  assert.equal(server.hits(path).length, 4);
  assert.deepEqual(faults, []);
  await page.close();
  return times;
}
