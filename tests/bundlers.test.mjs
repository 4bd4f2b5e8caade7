// The package through bundlers, without a plugin and without a configuration, then run in a page. The bytes of the core are
// a string in the code, which each of them writes in its own way.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import * as vite from "vite";
import { engine, launch } from "./support/browser.mjs";
import { built } from "./support/builds.mjs";
import { blank } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const projects = path.join(root, "target", "bundled");
const require = createRequire(new URL("consumers/bundlers/package.json", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript" };
const PAGE = blank('<div id="app"></div><script type="module" src="main.js"></script>');

/** Each bundles `main.js` of the folder into `dist`, with its defaults for production. */
const BUNDLERS = {
  async esbuild(project) {
    const entryPoints = [path.join(project, "main.js")];
    const common = { bundle: true, minify: true, splitting: true, format: "esm", logLevel: "warning" };
    await esbuild.build({ ...common, entryPoints, outdir: path.join(project, "dist") });
  },
  async Rollup(project) {
    const { rollup } = require("rollup");
    // It does not look into node_modules by itself.
    const file = (name) => `"${path.join(root, "node_modules", "steadfetch", "dist", name)}"`;
    const main = path.join(project, "main.js");
    const code = readFileSync(main, "utf8");
    const named = code.replace('"steadfetch"', file("index.js")).replace('"steadfetch/devtools"', file("devtools.js"));
    writeFileSync(main, named);
    const bundle = await rollup({ input: main });
    await bundle.write({ dir: path.join(project, "dist"), format: "es" });
    await bundle.close();
  },
  async webpack(project) {
    const webpack = require("webpack");
    await packed(webpack, project);
  },
  async Rspack(project) {
    const { rspack } = require("@rspack/core");
    await packed(rspack, project);
  },
  async Vite(project) {
    const input = path.join(project, "main.js");
    await vite.build({
      root: project,
      configFile: false,
      logLevel: "warn",
      build: { outDir: "dist", rollupOptions: { input, output: { entryFileNames: "main.js" } } },
    });
  },
  async Parcel(project) {
    const { Parcel } = require("@parcel/core");
    writeFileSync(path.join(project, "index.html"), PAGE.replace('href="data:,"', 'href="#"'));
    const targets = { main: { distDir: path.join(project, "dist"), publicUrl: "./" } };
    const options = {
      entries: path.join(project, "index.html"),
      defaultConfig: require.resolve("@parcel/config-default"),
    };
    await new Parcel({ ...options, mode: "production", targets, cacheDir: path.join(project, "cache") }).run();
  },
};

/** Its own bundler, where there is one of it for this platform. Deno's fetches a part of itself first, so it is not here. */
const bun = path.join(root, "node_modules", "@oven", "bun-linux-x64", "bin", "bun");
if (existsSync(bun)) {
  BUNDLERS.Bun = async (project) => {
    await promisify(execFile)(bun, "build main.js --outdir dist --splitting --minify --target=browser".split(" "), {
      cwd: project,
    });
  };
}

/** webpack and what has its interface. */
async function packed(make, project) {
  const compiler = make({
    mode: "production",
    context: project,
    entry: path.join(project, "main.js"),
    output: { path: path.join(project, "dist") },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  assert.ok(!stats.hasErrors(), stats.toString());
}

let server;
before(async () => {
  if (!built) rmSync(projects, { recursive: true, force: true });
  server = await startServer({ files, cors: true });
});
after(() => server?.close());

function files({ url }, response) {
  const [, name, file] = url.split("?")[0].match(/^\/(\w+)\/(.*)$/) ?? [];
  if (!(name in BUNDLERS)) return false;
  const found = path.join(projects, name, "dist", file || "index.html");
  if (file && !existsSync(found)) return false;
  response
    .writeHead(200, { "Content-Type": TYPES[path.extname(found)], Connection: "close" })
    .end(existsSync(found) ? readFileSync(found) : PAGE);
  return true;
}

async function works(address, api) {
  server.script(api, [503, { body: "hello" }]);
  const page = await (await launch()).newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  await page.goto(`${address}#${server.url}${api}`);
  await page.getByText("loading > waiting > loading > success: hello, function").waitFor();
  assert.equal(server.hits(api).length, 2);
  assert.deepEqual(faults, []);
  await page.close();
}

function project(name) {
  const folder = path.join(projects, name);
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(root, "tests", "support", "bundlers", "main.js"), path.join(folder, "main.js"));
  return folder;
}

describe("the package bundled", () => {
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    test(`by ${name} works`, { timeout: 120_000 }, async () => {
      if (!built) await bundle(project(name));
      await works(`${server.url}/${name}/`, `/api/${name}`);
    });
  }

  test("by nothing, served by Vite for development, works", { timeout: 120_000 }, async () => {
    const folder = project(`dev-${engine}`);
    writeFileSync(path.join(folder, "index.html"), PAGE);
    const dev = await vite.createServer({
      root: folder,
      configFile: false,
      logLevel: "warn",
      cacheDir: path.join(folder, "cache"),
      server: { host: "127.0.0.1", port: 0 },
    });
    try {
      await dev.listen();
      await works(`http://127.0.0.1:${dev.httpServer.address().port}/`, "/api/dev");
    } finally {
      await dev.close();
    }
  });
});
