// The package through bundlers, without a plugin and without a configuration, then run in a page. The bytes of the core are
// a string in the code, which each of them writes in its own way.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as vite from "vite";
import { engine, launch } from "./support/browser.mjs";
import { built } from "./support/builds.mjs";
import { BUNDLERS, PAGE, project, projects, require } from "./support/bundlers/index.mjs";
import { startServer } from "./support/server.mjs";

const main = readFileSync(fileURLToPath(new URL("support/bundlers/main.js", import.meta.url)), "utf8");
const TYPES = { ".html": "text/html", ".js": "text/javascript" };
let server;
before(async () => {
  if (!built) rmSync(projects, { recursive: true, force: true });
  server = await startServer({ files, cors: true });
});
after(() => server?.close());

const WITHOUT = "<script>delete globalThis.WebAssembly</script>";

function files({ url }, response) {
  const [address, query] = url.split("?");
  const [, name, file] = address.match(/^\/(\w+)\/(.*)$/) ?? [];
  if (!name) return false;
  const found = path.join(projects, name, "dist", file || "index.html");
  if (file && !existsSync(found)) return false;
  response
    .writeHead(200, { "Content-Type": TYPES[path.extname(found)], Connection: "close" })
    .end(
      existsSync(found)
        ? readFileSync(found)
        : query === "without-wasm"
          ? PAGE.replace("<script", `${WITHOUT}<script`)
          : PAGE,
    );
  return true;
}

async function works(address, api) {
  server.script(api, [503, { body: "hello" }]);
  server.script(`${api}/outbox`, [503, { body: "delivered" }]);
  const page = await (await launch()).newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  await page.goto(`${address}#${server.url}${api}`);
  await page.getByText("loading > waiting > loading > success: hello, function, delivered").waitFor();
  assert.equal(server.hits(api).length, 2);
  assert.deepEqual(
    server.hits(`${api}/outbox`).map(({ text }) => text),
    ["kept", "kept"],
  );
  assert.deepEqual(faults, []);
  await page.close();
}

describe("the package bundled", () => {
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    test(`by ${name} works`, { timeout: 120_000 }, async () => {
      if (!built) await bundle(project(name, main));
      await works(`${server.url}/${name}/`, `/api/${name}`);
      // The core as JavaScript is a file of its own by now.
      await works(`${server.url}/${name}/?without-wasm`, `/api/${name}/without`);
    });
  }

  test("and made smaller by terser at its strongest works", { timeout: 120_000 }, async () => {
    const { minify } = require("terser");
    const folder = project("terser", main);
    await BUNDLERS.Rollup(folder);
    const dist = path.join(folder, "dist");
    for (const name of readdirSync(dist)) {
      const file = path.join(dist, name);
      const options = { module: true, toplevel: true, compress: { passes: 3 }, mangle: { toplevel: true } };
      const { code } = await minify(readFileSync(file, "utf8"), options);
      writeFileSync(file, code);
    }
    await works(`${server.url}/terser/`, "/api/terser");
  });

  test("by nothing, served by Vite for development, works", { timeout: 120_000 }, async () => {
    const folder = project(`dev-${engine}`, main);
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
