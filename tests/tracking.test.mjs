// Frameworks note what is read while they ask a component what it wants. What the options of a request read and write,
// such as a counter in `onState`, is no reason to ask again.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { APPS, angular } from "../scripts/lib/apps.mjs";
import { launch } from "./support/browser.mjs";
import { blank } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = path.join(root, "tests", "support", "tracking");
const out = path.join(root, "target", "tracking");
const TESTED = APPS.filter(({ name }) => ["vue", "svelte", "solid", "angular"].includes(name));

let server;
before(
  async () => {
    for (const { name, main, config } of TESTED) {
      const project = path.join(sources, name);
      const own = name === "angular" ? angular(path.join(project, "tsconfig.json")) : config();
      await build({
        root: project,
        configFile: false,
        logLevel: "warn",
        ...(await own),
        build: {
          outDir: path.join(out, name),
          emptyOutDir: true,
          rollupOptions: { input: path.join(project, main), output: { entryFileNames: "main.js" } },
        },
      });
    }
    server = await startServer({ files });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

function files(request, response) {
  const [, name, file] = request.url.split("/");
  if (!TESTED.some((app) => app.name === name)) return false;
  const script = file === "main.js";
  const page = blank('<div id="app"></div><script type="module" src="main.js"></script>');
  response
    .writeHead(200, { "Content-Type": script ? "text/javascript" : "text/html", Connection: "close" })
    .end(script ? readFileSync(path.join(out, name, "main.js")) : page);
  return true;
}

describe("what a request's options read", { concurrency: 2 }, () => {
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
  await page.waitForFunction(
    () => performance.getEntriesByName(`${location.origin}${location.hash.slice(1)}?2`).length === 2,
  );
  const times = await page.evaluate(() => globalThis.asked);
  assert.equal(server.hits(path).length, 4);
  assert.deepEqual(faults, []);
  await page.close();
  return times;
}
