// The adapters on a server: the small apps of www/apps are rendered without a page, and taken over in Chromium without
// a word of any mismatch.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { APPS, buildApps } from "../scripts/lib/apps.mjs";
import { faultsOf, launch } from "./support/browser.mjs";
import { blank } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

const OUT = fileURLToPath(new URL("../target/apps-rendered", import.meta.url));
const TESTED = APPS.filter(({ name }) => ["react", "vue", "svelte", "solid"].includes(name));
const REPORT = { body: JSON.stringify({ title: "Parcels" }), headers: { "Content-Type": "application/json" } };

let server;
before(
  async () => {
    await buildApps({ out: OUT, apps: TESTED, server: true });
    server = await startServer({ files });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

function files(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  const file = path.join(OUT, pathname);
  if (pathname.endsWith("/") || !existsSync(file)) return false;
  response.writeHead(200, { "Content-Type": "text/javascript", Connection: "close" }).end(readFileSync(file));
  return true;
}

const rendering = ({ name }) => import(pathToFileURL(path.join(OUT, name, "server.js")));
const plain = (html) => html.replace(/<!--.*?-->/g, "");

for (const app of TESTED) {
  describe(`the adapter for ${app.title} on a server`, () => {
    test("renders a request that is wanted as idle, and sends nothing", { timeout: 30_000 }, async () => {
      const native = globalThis.fetch;
      let sent = 0;
      globalThis.fetch = async () => {
        sent++;
        return new Response();
      };
      try {
        const { render } = await rendering(app);
        const html = plain(await render(1));
        assert.match(html, /Nothing loaded yet/);
        assert.match(html, /The server is fine/);
        assert.match(html, /0 loading, 0 waiting/);
        assert.match(html, /0 not delivered yet, 0 refused/);
        assert.equal(sent, 0);
      } finally {
        globalThis.fetch = native;
      }
    });

    test("is taken over in the page without a mismatch, and goes on there", { timeout: 60_000 }, async () => {
      const api = `/api/${app.name}`;
      server.script(api, [{ status: 503, retryAfter: 1 }, REPORT]);
      const { render, head = () => "" } = await rendering(app);
      const body = `<div id="app" data-first="1">${await render(1)}</div>`;
      const script = `<script type="module" src="/${app.name}/main.js"></script>`;
      server.script(`/${app.name}/`, [
        {
          headers: { "Content-Type": "text/html" },
          body: blank(`${head()}${body}${script}`),
        },
      ]);
      const page = await (await launch()).newPage();
      const faults = faultsOf(page);
      await page.addInitScript(() => {
        document.addEventListener("DOMContentLoaded", () => {
          globalThis.panel = document.querySelector(".panel");
        });
      });
      await page.goto(`${server.url}/${app.name}/?api=${server.url}${api}`);
      await page.locator('.panel[data-status="success"]').waitFor();
      assert.deepEqual(faults, []);
      assert.ok(await page.evaluate(() => document.querySelector(".panel") === globalThis.panel), "the same element");
      await until(() => server.hits(api).length === 2);
      await page.close();
    });
  });
}
