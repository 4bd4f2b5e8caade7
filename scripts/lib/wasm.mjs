// From the crate to the wasm that ships and the JavaScript around it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nativeEnv, TARGET, wasmEnv } from "../toolchain.mjs";
import { Failure, output, root, run } from "./run.mjs";

const NAME = "steadfetch";
const GLUE_MODULE = `./${NAME}_bg.js`;
const out = path.join(root, "target", "web");
const wasmOpt = path.join(root, "node_modules", "binaryen", "bin", "wasm-opt");

// What rustc's wasm32-unknown-unknown may use. wasm-opt is told no more than that: with
// `--all-features` it writes types that browsers reject.
const FEATURES = [
  "bulk-memory",
  "bulk-memory-opt",
  "call-indirect-overlong",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
];
const OPTIMISE = [
  "--mvp-features",
  ...FEATURES.map((name) => `--enable-${name}`),
  "-Oz",
  "--converge",
  "--one-caller-inline-max-function-size=20",
  "--reorder-functions-by-name",
];
const STRIP = ["--strip-debug", "--strip-producers", "--strip-target-features"];
const BINDGEN = ["--target", "web", "--omit-default-module-path", "--no-typescript", "--out-name", NAME];

/**
 * Builds and returns `{ bytes, glue }`: the wasm and the path of its JavaScript module.
 * With `names`, also leaves a copy that keeps its function names, for size studies.
 */
export function buildWasm({ names = false } = {}) {
  const compiled = compile();
  const files = {
    wasm: path.join(out, `${NAME}.wasm`),
    glue: path.join(out, `${NAME}.js`),
    stamp: path.join(out, "stamp"),
  };
  const bindgen = output("wasm-bindgen", ["--version"]);
  const stamp = hash(readFileSync(compiled), bindgen, readFileSync(new URL(import.meta.url)));
  const fresh = Object.values(files).every(existsSync) && readFileSync(files.stamp, "utf8") === stamp;
  if (!fresh || names) {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    run("wasm-bindgen", [...BINDGEN, "--out-dir", out, compiled]);
    const bound = path.join(out, `${NAME}_bg.wasm`);
    checkImports(readFileSync(bound));
    optimise(bound, files.wasm, ...OPTIMISE, ...STRIP);
    if (names) optimise(bound, path.join(root, "target", `${NAME}.names.wasm`), ...OPTIMISE, "-g");
    shortenNames(files);
    new WebAssembly.Module(readFileSync(files.wasm)); // throws if an engine would refuse it
    writeFileSync(files.stamp, stamp);
  }
  return { bytes: readFileSync(files.wasm), glue: files.glue };
}

function compile() {
  const env = wasmEnv();
  const renamed = sourceFolders(env);
  const flags = renamed.map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
  run("cargo", ["build", "--release", "--lib", "--locked", "--target", TARGET], {
    env: { ...env, CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f") },
  });
  const file = path.join(root, "target", TARGET, "release", `${NAME}.wasm`);
  const leak = renamed.find(([from]) => readFileSync(file).includes(from));
  if (leak) throw new Failure(`the wasm names a folder of this machine: ${leak[0]}`);
  return file;
}

/** Panic messages name source files: pairs of where this machine has them, and what to say instead. */
function sourceFolders(env) {
  const args = ["metadata", "--format-version=1", "--locked", "--filter-platform", TARGET];
  const metadata = output("cargo", args, { env });
  if (!metadata) throw new Failure("`cargo metadata --locked` failed", "Is Cargo.lock up to date?");
  const crates = JSON.parse(metadata)
    .packages.filter((crate) => crate.source)
    .map((crate) => path.dirname(path.dirname(crate.manifest_path)));
  const std = path.join(output("rustc", ["--print", "sysroot"], { env }), "lib/rustlib/src/rust");
  const hash = output("rustc", ["-vV"], { env }).match(/commit-hash: (\S+)/)[1];
  const stds = existsSync(std) ? [std, realpathSync(std)] : [];
  return [
    ...[...new Set(crates)].sort().map((dir) => [dir, "/crates"]),
    ...stds.map((dir) => [dir, `/rustc/${hash}`]),
    [root.replace(/[\\/]$/, ""), "/steadfetch"],
  ];
}

/** Anything but wasm-bindgen's own module would be a call the browser cannot answer. */
function checkImports(bytes) {
  const modules = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).map((entry) => entry.module);
  const foreign = modules.filter((name) => name !== GLUE_MODULE);
  if (foreign.length > 0) throw new Failure(`the wasm imports from ${[...new Set(foreign)].join(", ")}`);
}

function optimise(from, to, ...flags) {
  run(process.execPath, [wasmOpt, from, "-o", to, ...flags], { env: nativeEnv() });
}

/**
 * wasm-bindgen's import and export names are long, end in hashes that do not compress, and stand in
 * both files. Binaryen shortens them in the wasm and prints the list; this applies it to the glue.
 */
function shortenNames({ wasm, glue }) {
  const flags = ["--mvp-features", ...FEATURES.map((name) => `--enable-${name}`), ...STRIP];
  const pass = "--minify-imports-and-exports-and-modules";
  const printed = output(process.execPath, [wasmOpt, wasm, "-o", wasm, ...flags, pass]);
  if (!printed) throw new Failure("wasm-opt could not shorten the import names");
  const names = JSON.parse(printed);
  let text = readFileSync(path.join(out, `${NAME}.js`), "utf8");
  const replaceOnce = (pattern, replacement) => {
    const parts = text.split(pattern);
    if (parts.length !== 2) throw new Failure(`the glue has ${parts.length - 1} times ${pattern}`);
    text = parts.join(replacement);
  };
  for (const [, from, to] of names.imports) replaceOnce(new RegExp(`(?<=^\\s+)${from}(?=:)`, "m"), to);
  replaceOnce(`"${GLUE_MODULE}": import0`, "a: import0");
  const exports = new Map(names.exports);
  text = text.replace(/\bwasm\.(\w+)/g, (_, name) => {
    if (!exports.has(name)) throw new Failure(`the glue uses ${name}, which the wasm does not export`);
    return `wasm.${exports.get(name)}`;
  });
  writeFileSync(glue, text);
}

function hash(...parts) {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part);
  return digest.digest("hex");
}
