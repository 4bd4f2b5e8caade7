// A page of an app that imports the installed package, without a server: what it asks for is answered here.

import { readFile } from "node:fs/promises";

const PACKAGE = new URL("./dist/", import.meta.resolve("steadfetch/package.json"));
const APP = "https://app.test/";
const IMPORTS = { steadfetch: "/dist/index.js", "steadfetch/testing": "/dist/testing.js" };
const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>app</title>
  <link rel="icon" href="data:,">
  <script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

/** Opens it; `prepare` is given the page before it is loaded, `body` is what the HTML ends with. */
export async function open(browser, { body = "", prepare = async () => {} } = {}) {
  const page = await browser.newPage();
  await page.route(`${APP}**`, (route) => route.fulfill({ contentType: "text/html", body: HTML + body }));
  await page.route(`${APP}dist/*`, async (route) => {
    const file = new URL(route.request().url().slice(`${APP}dist/`.length), PACKAGE);
    return route.fulfill({ contentType: "text/javascript", body: await readFile(file) });
  });
  await prepare(page);
  await page.goto(APP);
  return page;
}
