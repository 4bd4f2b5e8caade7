// One framework that renders on a server: its project is built for production, run, and opened in Chromium.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { faultsOf, launch } from "./browser.mjs";
import { build, copy, installed, newerNode, serve } from "./frameworks.mjs";
import { startServer } from "./server.mjs";

const TOLD = "loading 1, waiting 1, loading 2, success 2: hello";

/**
 * The tests of one project. Its page `/` and its handlers take the address to ask from `?api=`. In the page `#server` is what the
 * server asked for as it rendered (`/server` of that address), `#page` a component that asks by itself (`/page`).
 *
 * @param {string} title
 * @param {object} how
 * @param {string} how.project  the folder in tests/frameworks
 * @param {string[]} how.build  the framework's command, and its arguments
 * @param {(port: number) => string[]} how.start  what runs the build
 * @param {string[]} how.handlers  paths that answer with what a call of theirs went through
 * @param {string} [how.node]  the Node of both; by default one that is no older than 22
 */
export function describeFramework(title, { project, build: command, start, handlers, node = newerNode() }) {
  const as = title.toLowerCase().replace(/\W+/g, "-");
  const missing = node ? false : "no Node 22 for this platform";
  let server;
  let app;

  /** An address whose parts fail once; of its own for each test. */
  function flaky(name, parts = [""]) {
    for (const part of parts) server.script(`${name}${part}`, [503, { body: "hello" }]);
    return `${server.url}${name}`;
  }

  describe(`the package in ${title}`, { skip: missing }, () => {
    before(
      async () => {
        assert.ok(existsSync(installed()), "the frameworks are not installed: npm run setup");
        server = await startServer({ cors: true });
        const folder = copy(project, as);
        await build(node, command, folder);
        app = await serve(node, start, folder);
      },
      { timeout: 600_000 },
    );
    after(async () => {
      await app?.stop();
      await server?.close();
    });

    for (const handler of handlers) {
      test(`retries in the handler ${handler}`, { timeout: 60_000 }, async () => {
        const response = await fetch(`${app.url}${handler}?api=${flaky(`/in${handler}`)}`);
        assert.equal(await response.text(), TOLD, app.said());
        assert.equal(server.hits(`/in${handler}`).length, 2);
      });
    }

    test("retries while the server renders a page", { timeout: 60_000 }, async () => {
      const response = await fetch(`${app.url}/?api=${flaky("/rendering", ["/server", "/page"])}`);
      assert.equal(textOf("server", await response.text()), TOLD, app.said());
      assert.equal(server.hits("/rendering/server").length, 2);
    });

    test("renders the request of a component idle, and does not send it", { timeout: 60_000 }, async () => {
      const response = await fetch(`${app.url}/?api=${flaky("/idle", ["/server", "/page"])}`);
      assert.equal(textOf("page", await response.text()), "idle", app.said());
      assert.equal(server.hits("/idle/page").length, 0);
    });

    test("is taken over in the page, counts down there and shows what came", { timeout: 60_000 }, async () => {
      const page = await (await launch()).newPage();
      const faults = faultsOf(page);
      await page.addInitScript(watch);
      await page.goto(`${app.url}/?api=${flaky("/taken-over", ["/server", "/page"])}`);
      await page.getByText("success: hello", { exact: true }).waitFor();
      assert.deepEqual(faults, []);
      const { texts, elements } = await page.evaluate(() => globalThis.seen());
      const waits = ["trying again in 2 s", "trying again in 1 s"];
      assert.deepEqual(texts, ["idle", "loading", ...waits, "loading", "success", "success: hello"]);
      assert.equal(elements, 1, "the element that came from the server is the one that counted down");
      assert.equal(server.hits("/taken-over/page").length, 2);
      await page.close();
    });
  });
}

/** Of the element with that id, in markup. */
function textOf(id, html) {
  const element = new RegExp(`<p [^>]*id="?${id}\\b[^>]*>([^<]*)`);
  return html.replace(/<!--.*?-->/g, "").match(element)?.[1];
}

/** In the page, from before its first element on: the texts of `#page`, and how many elements had them. */
function watch() {
  const texts = [];
  const elements = new Set();
  globalThis.seen = () => ({ texts, elements: elements.size });
  new MutationObserver(() => {
    const element = document.getElementById("page");
    if (!element?.textContent) return;
    elements.add(element);
    if (texts.at(-1) !== element.textContent) texts.push(element.textContent);
  }).observe(document, { subtree: true, childList: true, characterData: true });
}
