// Where an example is run: in a blank page of Chromium that can import it, or here, before a server that fails as told.
//
//   const lab = await open({ steps: { "/report.json": [503, 200] } });
//   await lab.run("first-call");            // the module, to its end
//   lab.logs;                               // what it said on the console
//   await lab.close();

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { launch } from "../browser.mjs";
import { blank, browserEntry, install, packageFiles } from "../packed.mjs";
import { startServer, until } from "../server.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const examples = path.join(root, "examples");
const HTML = { "Content-Type": "text/html" };
/** For the page to show something, in milliseconds: less than the 30 s that a server may say here. */
const PATIENCE = 20_000;
const SCRIPT = { "Content-Type": "text/javascript" };

/** The text of an example. */
export const source = (name) => readFileSync(path.join(examples, name), "utf8");

/** The field and the value of an example that is one line of HTTP. */
const header = (name) =>
  source(name)
    .trim()
    .split(/: (.*)/, 2);

/** The modules of examples/ without their types, each by its name. */
async function compiled() {
  const names = readdirSync(examples, { recursive: true }).map((name) => name.split(path.sep).join("/"));
  const modules = names.filter((name) => /\.[tj]s$/.test(name) && !/\btest\b/.test(name));
  const pages = modules.map(async (name) => {
    const { code } = await transform(source(name), { loader: "ts", target: "es2022" });
    return [`/examples/${name.replace(/\.ts$/, ".js")}`, { headers: SCRIPT, body: code }];
  });
  return Object.fromEntries(await Promise.all(pages));
}

/**
 * A page where an example gets a client that can be reached: `client` is the last one made, and `prepared`, where it is
 * set, is taken in the place of a new one, as if other calls of the page had been before.
 */
async function shared() {
  const entry = `/steadfetch/${await browserEntry()}`;
  const body = `export * from "${entry}";
import { createFetch as make } from "${entry}";
export const createFetch = (...args) => (globalThis.client = globalThis.prepared ?? make(...args));`;
  const map = JSON.stringify({ imports: { steadfetch: "/shared.js" } });
  return {
    "/shared.js": { headers: SCRIPT, body },
    "/shared": { headers: HTML, body: blank(`<script type="importmap">${map}</script>`) },
  };
}

/** Whole pages in folders as the documents say: what they load beside them, the package in node_modules. */
async function folders(modules) {
  const dist = "node_modules/steadfetch/dist";
  const script = (name) => modules[`/examples/${name}.js`];
  const html = (body, headers) => ({ headers: { ...HTML, ...headers }, body });
  const imports = { steadfetch: `./${dist}/index.js`, "steadfetch/element": `./${dist}/element.js` };
  const head = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
  const [field, policy] = header("guide/csp.http");
  const files = {
    "app/": html(blank(source("page.html"))),
    "app/element.html": html(blank(head + source("element.html"))),
    ...Object.fromEntries(["page", "buttons", "sentence"].map((name) => [`app/${name}.js`, script(name)])),
    "static/": html(source("guide/index.html")),
    "static/main.js": script("guide/main"),
    "policy/": scripted("/by-address.js", { [field]: policy }),
    "policy/without": scripted("/by-address.js", { [field]: policy.replace(" 'wasm-unsafe-eval'", "") }),
    // An import map is a script in the page, which a policy may refuse: the package by its address.
    "by-address.js": {
      headers: SCRIPT,
      body: source("guide/main.js").replace('"steadfetch"', `"/static/${dist}/index.js"`),
    },
  };
  for (const [folder, name] of [
    ["app", "index.js"],
    ["app", "element.js"],
    ["static", "index.js"],
    ["static", "fallback.js"],
  ]) {
    const body = readFileSync(path.join(await install(), dist, name));
    files[`${folder}/${dist}/${name}`] = { headers: SCRIPT, body };
  }
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [`/${name}`, file]));
}

/** The service worker of the guide, bundled, since a worker has no import map. */
async function worker() {
  const entryPoints = [path.join(examples, "guide/outbox-sw.ts")];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "iife", write: false, charset: "utf8" });
  return { "/sw.js": { headers: { "Content-Type": "text/javascript; charset=utf-8" }, body: outputFiles[0].text } };
}

/** A page whose script is `src`. */
export const scripted = (src, headers) => ({
  headers: { ...HTML, ...headers },
  body: blank(`<p id="report"></p><script type="module" src="${src}"></script>`),
});

async function everything() {
  const modules = await compiled();
  return { ...modules, ...(await shared()), ...(await folders(modules)), ...(await worker()) };
}

let pages;

/**
 * @param {object} how
 * @param {Record<string, any>} [how.steps]  what the server does
 * @param {Record<string, any>} [how.files]  pages besides, see packageFiles()
 * @param {string} [how.html]  the body of the page
 * @param {string} [how.at]  the page
 * @param {boolean} [how.clock]  the page's time stands still but for `page.clock`
 * @param {boolean} [how.mayFail]  errors of the page are for the example to look at
 */
export async function open({ steps = {}, files = {}, html = "", at = "/", clock = false, mayFail = false }) {
  pages ??= everything();
  const server = await startServer({ cors: true, files: await packageFiles({ ...(await pages), ...files }) });
  for (const [path, script] of Object.entries(steps)) server.script(path, script);

  const context = await (await launch()).newContext();
  const logs = [];
  const faults = [];
  /** Another tab of the same browser, on a page of the server. */
  async function tab(at, html = "") {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    if (clock) await page.clock.install();
    page.on("console", (message) => message.type() === "log" && logs.push(message.text()));
    page.on("pageerror", (error) => faults.push(error.stack));
    await page.goto(server.url + at);
    if (clock) await page.clock.pauseAt(Date.now() + 60_000);
    if (html) await page.evaluate((html) => document.body.insertAdjacentHTML("beforeend", html), html);
    return page;
  }
  const page = await tab(at, html);
  const lab = {
    server,
    context,
    page,
    logs,
    faults,
    tab,
    header,
    load,
    hits: (path) => server.hits(path),
    /** What was sent to a path. */
    sent: (path) => server.hits(path).map(({ method, text }) => (text ? `${method} ${text}` : method)),
    /** Runs an example to its end; without a network it comes from the page's own memory. */
    async run(name, { where = page, fetched = true } = {}) {
      const address = `/examples/${name}.js`;
      if (fetched) return where.evaluate((address) => import(address).then(() => {}), address);
      const { body } = (await pages)[address];
      return where.evaluate((body) => {
        const blob = new Blob([body], { type: "text/javascript" });
        return import(URL.createObjectURL(blob)).then(() => {});
      }, body);
    },
    /** Runs text as a module; its imports are bundled, from examples/ on. */
    async runBundled(contents) {
      const { outputFiles } = await build({
        stdin: { contents, resolveDir: examples, loader: "ts" },
        ...{ bundle: true, format: "esm", write: false, logLevel: "warning", charset: "utf8" },
      });
      await page.addScriptTag({ type: "module", content: outputFiles[0].text });
    },
    /** Waits until the console has that line. */
    said: (line) => until(() => logs.some((log) => log === line), `"${line}"`),
    until,
    async close() {
      await context.close();
      await server.close();
      if (!mayFail) assert.deepEqual(faults, []);
    },
  };
  return lab;
}

/** What an example needs that runs here in Node. */
export async function openNode({ steps = {} }) {
  const server = await startServer();
  for (const [path, script] of Object.entries(steps)) server.script(path, script);
  const listening = [];
  return {
    ...{ server, load, source, until },
    hits: (path) => server.hits(path),
    /** Lets a server of an example listen on loopback, and gives its address. */
    async listen(own) {
      listening.push(own);
      await new Promise((resolve) => own.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${own.address().port}/`;
    },
    async close() {
      for (const own of listening) {
        own.closeAllConnections();
        await new Promise((resolve) => own.close(resolve));
      }
      await server.close();
    },
  };
}

let loads = 0;

/** What a module of examples/ exports, anew each time: its client knows nothing of another test. */
async function load(name) {
  if (name.endsWith("js")) return import(`${pathToFileURL(path.join(examples, name))}?${loads++}`);
  const outfile = path.join(root, "target", "examples", `${name}.mjs`);
  await build({ entryPoints: [path.join(examples, name)], outfile, bundle: true, packages: "external", format: "esm" });
  return import(`${pathToFileURL(outfile)}?${loads++}`);
}
