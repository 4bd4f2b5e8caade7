// Bundlers without a plugin and without a configuration: each bundles `main.js` of a folder into its `dist`, with its
// defaults for production.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import * as vite from "vite";
import { blank } from "../packed.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Where the folders are. */
export const projects = path.join(root, "target", "bundled");
export const require = createRequire(path.join(root, "tests", "consumers", "bundlers", "package.json"));
/** A page that runs what a bundler has made. */
export const PAGE = blank('<div id="app"></div><script type="module" src="main.js"></script>');

/** A new folder with that code. */
export function project(name, code) {
  const folder = path.join(projects, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "main.js"), code);
  return folder;
}

export const BUNDLERS = {
  async esbuild(project) {
    const entryPoints = [path.join(project, "main.js")];
    const common = { bundle: true, minify: true, splitting: true, format: "esm", logLevel: "warning" };
    await esbuild.build({ ...common, entryPoints, outdir: path.join(project, "dist") });
  },
  async Rollup(project) {
    const { rollup } = require("rollup");
    // It does not look into node_modules by itself.
    const dist = path.join(root, "node_modules", "steadfetch", "dist");
    const main = path.join(project, "main.js");
    const code = readFileSync(main, "utf8");
    const named = code.replace(
      /"steadfetch(?:\/(\w+))?"/g,
      (_, name = "index") => `"${path.join(dist, `${name}.js`)}"`,
    );
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
