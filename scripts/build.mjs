// Makes pkg/, the npm package: the crate as wasm inside one JavaScript module, with its types.
// `--names` also leaves target/web/client/steadfetch.names.wasm, whose functions keep their names.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { documents } from "./lib/documents.mjs";
import { checksum, decode, encode, MASK } from "./lib/inline.mjs";
import { place } from "./lib/place.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";
import { measure, table } from "./lib/sizes.mjs";
import { buildWasm } from "./lib/wasm.mjs";
import { cargoField } from "./toolchain.mjs";

const template = path.join(root, "pkg-template");
const pkg = path.join(root, "pkg");
const BYTES = "STEADFETCH_WASM";
/** The two modules that have a core: their sources, and what names the script that stands in for it. */
const CLIENT = { entry: path.join(template, "src", "index.ts"), fallback: path.join(template, "src", "stand-in.ts") };
const OUTBOX = {
  entry: path.join(template, "outbox", "index.ts"),
  fallback: path.join(template, "outbox", "stand-in.ts"),
};
/** Entries that are another's source with one library in the place of another. */
const TWINS = { preact: { source: "react", alias: { react: "preact/compat" } } };
/** Properties that end in `_` are private and get short names. */
const OPTIONS = {
  write: false,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  mangleProps: /_$/,
  // The language's own names.
  reserveProps: /^__.*__$/,
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  absWorkingDir: root,
  // Maps name the same sources wherever node_modules really is.
  preserveSymlinks: true,
  logLevel: "warning",
};
export async function build(options) {
  const types = readdirSync(template).filter((name) => name.endsWith(".d.ts"));
  const client = { ...CLIENT, wasm: buildWasm("client", options) };
  const { js, map } = await bundle("index", "inlined", client);
  const code = annotated(js);
  const index = await withBytes("index", code, client);
  const workerd = await bundle("workerd", "imported", client);
  const fallback = await standIn(client);
  const outbox = await bundleOutbox(options);
  const manifest = makeManifest();
  const entries = await bundleEntries(manifest);
  const files = {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "dist/index.js": index,
    "dist/index.js.map": map,
    "dist/workerd.js": `${annotated(workerd.js)}//# sourceMappingURL=workerd.js.map\n`,
    "dist/workerd.js.map": workerd.map,
    "dist/core.wasm": client.wasm.bytes,
    "dist/fallback.js": fallback,
    "dist/outbox.js": outbox.js,
    "dist/outbox.js.map": outbox.map,
    "dist/outbox-fallback.js": outbox.fallback,
    ...Object.fromEntries(types.map((name) => [`dist/${name}`, readFileSync(path.join(template, name))])),
    ...entries.files,
    ...documents(),
  };
  sync(pkg, files);
  place(pkg);

  const parts = {
    wasm: client.wasm.bytes,
    "js without wasm": Buffer.from(code),
    "index.js": index,
    "fallback.js": fallback,
    "outbox.js": outbox.js,
    "outbox-fallback.js": outbox.fallback,
  };
  const sizes = measure({ ...parts, ...entries.code });
  writeFileSync(path.join(root, "target", "sizes.json"), `${JSON.stringify(sizes, null, 2)}\n`);
  console.log(table(sizes));
}

function need(file) {
  if (!existsSync(file)) throw new Failure(`${path.relative(root, file)} is missing`);
  return file;
}

/** By which a script that stands in knows that it is of the same release. */
const stampOf = ({ wasm }) => createHash("sha256").update(wasm.bytes).digest("hex").slice(0, 8);

/** The wasm as JavaScript. */
const standIn = (module) => minify(`export const build = "${stampOf(module)}";\n${readFileSync(module.wasm.js)}`);

/** The outbox. `points`: as a test of pages that die between two steps has it. */
export async function bundleOutbox({ points, ...options } = {}) {
  const module = { ...OUTBOX, wasm: buildWasm("outbox", options) };
  const { js, map } = await bundle("outbox", "inlined", module, { points });
  return { js: await withBytes("outbox", js, module), map, fallback: await standIn(module) };
}

/** Bundles the TypeScript with what finds the wasm. */
async function bundle(name, finder, module, { points = false } = {}) {
  const { build } = await import("esbuild");
  const result = await build({
    ...OPTIONS,
    entryPoints: [need(module.entry)],
    outfile: path.join(pkg, "dist", `${name}.js`),
    sourcemap: "external",
    lineLimit: 300, // an engine that shows the line of an error shows all of it
    define: {
      STEADFETCH_MASK: String(MASK),
      STEADFETCH_SUM: String(checksum(module.wasm.bytes)),
      STEADFETCH_BUILD: JSON.stringify(stampOf(module)),
      STEADFETCH_POINTS: String(points),
      // The NODE_ENV that counts is that of the page's own build.
      "process.env.NODE_ENV": "process.env.NODE_ENV",
    },
    alias: { "#wasm": path.join(template, "src", `${finder}.ts`), "#fallback": module.fallback },
    external: ["./core.wasm", "./fallback.js", "./outbox-fallback.js"],
  });
  const text = (end) => result.outputFiles.find((file) => file.path.endsWith(end)).text;
  return { js: text(".js"), map: text(".js.map") };
}

/**
 * esbuild leaves out `@__PURE__` where it minifies. Without it in front of `steadfetch`, the one value that is made by
 * loading the module, a page's own bundler keeps all of the core for a page that wants a guard only. The map is that
 * much off for the rest of the line.
 */
function annotated(js) {
  // A line may end behind any token.
  const [name, rest] = ["var NAME =", "( ( ) => { let NAME , NAME = ( ) => ( globalThis . fetch !=="].map((tokens) =>
    tokens
      .split(" ")
      .map((token) => (token === "NAME" ? "[\\w$]+" : token.replace(/[.()]/g, "\\$&")))
      .join("\\s?"),
  );
  const parts = js.split(new RegExp(`(?<=\\b${name}\\s?)(?=${rest})`));
  if (parts.length !== 2) throw new Failure(`${parts.length - 1} places look like that of \`steadfetch\``);
  return parts.join("/* @__PURE__ */");
}

/** A module that nobody has to read. */
async function minify(code) {
  const { transform } = await import("esbuild");
  const result = await transform(code, { minify: true, format: "esm", target: "es2022", lineLimit: 300 });
  return Buffer.from(result.code);
}

/**
 * Appends the bytes to the finished bundle, for esbuild would write each of them as an escape.
 * `var` is hoisted, and the code above reads it on the first call.
 */
async function withBytes(name, js, { wasm: { bytes } }) {
  const literal = encode(bytes);
  if (!(await decode(literal)).equals(bytes)) throw new Failure("the inlined wasm does not decode to its bytes");
  return Buffer.from(`${js}var ${BYTES}=${literal};\n//# sourceMappingURL=${name}.js.map\n`);
}

/** The subpaths: small modules that know the client by its types only, and leave each framework to the page. */
async function bundleEntries({ exports, peerDependencies }) {
  const { build } = await import("esbuild");
  const files = {};
  const code = {};
  for (const { name, subpath } of entryNames(exports)) {
    files[`${subpath}/package.json`] = signpost(name, subpath);
    need(path.join(template, `${name}.d.ts`));
    if (name === "outbox") continue;
    const { source = name, alias } = TWINS[name] ?? {};
    const result = await build({
      ...OPTIONS,
      entryPoints: [entrySource(source)],
      outfile: path.join(pkg, "dist", `${name}.js`),
      external: Object.keys(peerDependencies).flatMap((peer) => [peer, `${peer}/*`]),
      alias,
      plugins: [outside],
      sourcemap: "linked",
    });
    for (const { path: file, contents } of result.outputFiles) files[path.relative(pkg, file)] = contents;
    // The last line names the map, and no page gets it.
    code[`${name}.js`] = Buffer.from(String(Buffer.from(files[`dist/${name}.js`])).replace(/\/\/# source.*/, ""));
  }
  return { files, code };
}

/** An entry that uses another one gets it from beside itself. */
const outside = {
  name: "outside",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/outbox\.js$/ }, () => ({ path: "./outbox.js", external: true }));
  },
};

/** The subpaths, such as "outbox/sw", and the names of their files, such as "outbox-sw". */
function entryNames(exports) {
  return Object.entries(exports)
    .filter(([subpath, target]) => subpath !== "." && typeof target === "object")
    .map(([subpath, target]) => ({ subpath: subpath.slice(2), name: path.basename(target.default, ".js") }));
}

/** Tools that do not know `exports` find an entry by a folder of its name. */
function signpost(name, subpath) {
  const dist = path.posix.relative(subpath, "dist");
  const code = `${dist}/${name}.js`;
  const entry = { main: code, module: code, types: `${dist}/${name}.d.ts`, sideEffects: name === "element" };
  return `${JSON.stringify(entry, null, 2)}\n`;
}

/** A framework's adapter is a file; what is more than that, a folder. */
function entrySource(name) {
  const adapter = path.join(template, "adapters", `${name}.ts`);
  return existsSync(adapter) ? adapter : need(path.join(template, name, "index.ts"));
}

function makeManifest() {
  const { name, ...rest } = JSON.parse(readFileSync(need(path.join(template, "package.json")), "utf8"));
  if (name !== cargoField("name")) throw new Failure(`the package is called ${name}, the crate is not`);
  // A folder is packed with what is in it.
  const folders = new Set(entryNames(rest.exports).map(({ subpath }) => subpath.split("/")[0]));
  const files = [...rest.files, ...folders];
  return { name, version: cargoField("version"), ...rest, files };
}

/** Makes the folder hold exactly these files, touching only what differs. */
function sync(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.path, entry.name);
    const name = path.relative(folder, file).split(path.sep).join("/");
    if (!entry.isDirectory() && !(name in files)) rmSync(file);
  }
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    const bytes = Buffer.from(content);
    if (existsSync(file) && readFileSync(file).equals(bytes)) continue;
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({ names: process.argv.includes("--names") }).catch(exitWith);
}
