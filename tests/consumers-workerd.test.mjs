// The package in workerd, the runtime of Cloudflare Workers: no bundler, its files are the modules. It compiles no WebAssembly from
// bytes, so there the package imports `core.wasm`.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { copy, installed, serve } from "./support/frameworks.mjs";
import { startServer } from "./support/server.mjs";

const binary = installed("@cloudflare", "workerd-linux-64", "bin", "workerd");
const missing = existsSync(binary) ? false : "no workerd for this platform";
const CONDITIONS = ["workerd", "worker", "import", "default"];

/** The file of an entry by the conditions that hold in a worker. */
function pick(target) {
  if (typeof target === "string") return target;
  return pick(target[Object.keys(target).find((condition) => CONDITIONS.includes(condition))]);
}

const { exports } = JSON.parse(
  readFileSync(new URL("../node_modules/steadfetch/package.json", import.meta.url), "utf8"),
);
const main = pick(exports["."]).replace("./", "");

/** A configuration with two workers, whose modules are the package as it is installed, without the core as JavaScript. */
function configuration(file) {
  const folder = installed("steadfetch");
  const dist = path.relative(path.dirname(file), path.join(folder, "dist"));
  const modules = [
    // A bare name is looked for beside the module that says it.
    `name = "steadfetch", esModule = "export * from './package/${main}'"`,
    `name = "lib/steadfetch", esModule = "export * from '../package/${main}'"`,
    'name = "lib/told.js", esModule = embed "../lib/told.js"',
    ...readdirSync(path.join(folder, "dist"))
      .filter((name) => /\.(js|wasm)$/.test(name) && name !== "fallback.js")
      .map((name) => {
        const kind = name.endsWith(".wasm") ? "wasm" : "esModule";
        return `name = "package/dist/${name}", ${kind} = embed "${path.posix.join(dist, name)}"`;
      }),
  ];
  const worker = (name, bindings) => `const ${name} :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  bindings = [${bindings}],
  modules = [
    (name = "${name}.js", esModule = embed "${name}.js"),${modules.map((module) => `\n    (${module}),`).join("")}
  ],
);
`;
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "shared", worker = .shared),
    (name = "internet", network = (allow = ["local", "private"])),
  ],
  sockets = [(name = "http", http = (), service = "main")],
);
${worker("main", '(name = "shared", service = "shared")')}${worker("shared", "")}`;
}

let server;
let app;

describe("the package in workerd", { skip: missing }, () => {
  before(
    async () => {
      server = await startServer();
      const folder = copy("workerd");
      const config = path.join(folder, "config.capnp");
      writeFileSync(config, configuration(config));
      app = await serve(binary, (port) => ["serve", config, "--socket-addr", `http=127.0.0.1:${port}`], folder);
    },
    { timeout: 60_000 },
  );
  after(async () => {
    await app?.stop();
    await server?.close();
  });

  const ask = async (path, api) => (await fetch(`${app.url}${path}?api=${api}`)).text();

  const names = ["/a", "/b", "/c", "/d"];
  const TOLD = "loading 1, waiting 1, loading 2, success 2";

  test("retries, with the core as WebAssembly", { timeout: 30_000 }, async () => {
    server.script("/flaky", [503, { body: "hello" }]);
    assert.equal(await ask("/", `${server.url}/flaky`), `${TOLD}: hello`, app.said());
    assert.equal(server.hits("/flaky").length, 2);
  });

  test("retries in requests at the same time, each with its client", { timeout: 30_000 }, async () => {
    for (const name of names) server.script(name, [503, { body: name }]);
    const all = names.map((name) => `${TOLD}: ${name}`);
    assert.deepEqual(await Promise.all(names.map((name) => ask("/", `${server.url}${name}`))), all, app.said());
  });

  // Not at the same time: a timer there belongs to the request that has set it.
  test("lets requests share a client, one after the other", { timeout: 30_000 }, async () => {
    for (const name of names) {
      server.script(name, [503, { body: name }]);
      assert.equal(await ask("/shared", `${server.url}${name}`), name, app.said());
    }
  });
});
