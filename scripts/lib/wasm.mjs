// From the crate to the wasm that ships and the JavaScript around it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { nativeEnv, TARGET, wasmEnv } from "../toolchain.mjs";
import { Failure, output, root, run } from "./run.mjs";

const NAME = "steadfetch";
const GLUE_MODULE = `./${NAME}_bg.js`;
const out = path.join(root, "target", "web");
const binaryen = (tool) => path.join(root, "node_modules", "binaryen", "bin", tool);
const wasmOpt = binaryen("wasm-opt");
const wasm2js = binaryen("wasm2js");

// What rustc's wasm32-unknown-unknown may use, but for what JavaScript cannot stand in for. wasm-opt is told no more
// than that: with `--all-features` it writes types that browsers reject.
const FEATURES = ["bulk-memory", "bulk-memory-opt", "mutable-globals", "sign-ext"];
const ENABLE = ["--mvp-features", ...FEATURES.map((name) => `--enable-${name}`)];
/**
 * wasm2js knows one table and results of one value, so wasm-bindgen has to do without others. And what binaryen puts in the
 * place of the conversions that saturate makes zeros of what is too large; the compiler does it right.
 */
const UNWANTED = ["reference-types", "multivalue", "nontrapping-fptoint"];
const OPTIMISE = [
  ...ENABLE,
  "-Oz",
  "--converge",
  "--one-caller-inline-max-function-size=20",
  "--reorder-functions-by-name",
];
/** In the place of what wasm2js does not know. */
const LOWER = ["--llvm-memory-copy-fill-lowering", "--signext-lowering"];
const MVP = ["--mvp-features", "--enable-mutable-globals"];
const STRIP = ["--strip-debug", "--strip-producers", "--strip-target-features"];
const BINDGEN = ["--target", "web", "--omit-default-module-path", "--no-typescript", "--out-name", NAME];

/**
 * Builds and returns `{ bytes, glue, js }`: the wasm, the path of its JavaScript module, and the same wasm as JavaScript.
 * With `names`, also leaves a copy that keeps its function names, for size studies.
 */
export function buildWasm({ names = false } = {}) {
  const compiled = compile();
  const files = {
    wasm: path.join(out, `${NAME}.wasm`),
    glue: path.join(out, `${NAME}.js`),
    js: path.join(out, `${NAME}.wasm.js`),
    stamp: path.join(out, "stamp"),
  };
  const bindgen = output("wasm-bindgen", ["--version"]);
  const stamp = hash(readFileSync(compiled), bindgen, readFileSync(new URL(import.meta.url)));
  const fresh = Object.values(files).every(existsSync) && readFileSync(files.stamp, "utf8") === stamp;
  if (!fresh || names) {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const plain = path.join(out, `${NAME}.plain.wasm`);
    writeFileSync(plain, disown(readFileSync(compiled)));
    run("wasm-bindgen", [...BINDGEN, "--out-dir", out, plain]);
    const bound = path.join(out, `${NAME}_bg.wasm`);
    checkImports(readFileSync(bound));
    optimise(bound, files.wasm, ...OPTIMISE, ...STRIP);
    if (names) optimise(bound, path.join(root, "target", `${NAME}.names.wasm`), ...OPTIMISE, "-g");
    shortenNames(files);
    mendGlue(files.glue);
    translate(files);
    new WebAssembly.Module(readFileSync(files.wasm)); // throws if an engine would refuse it
    writeFileSync(files.stamp, stamp);
  }
  return { bytes: readFileSync(files.wasm), glue: files.glue, js: files.js };
}

function compile() {
  const env = wasmEnv();
  const renamed = sourceFolders(env);
  const flags = [
    ...renamed.map(([from, to]) => `--remap-path-prefix=${from}=${to}`),
    `-Ctarget-feature=${UNWANTED.map((name) => `-${name}`).join()}`,
  ];
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

/**
 * The standard library comes compiled and says that it uses what it was allowed to use; it does not. In the section that
 * tells, a plus is "used" and a minus is "not used" (WebAssembly tool conventions, "Target Features Section").
 */
function disown(bytes) {
  for (const name of [...UNWANTED, "call-indirect-overlong"]) {
    const at = bytes.lastIndexOf(`+${String.fromCharCode(name.length)}${name}`);
    if (at >= 0) bytes[at] = "-".charCodeAt(0);
  }
  return bytes;
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
  const pass = "--minify-imports-and-exports-and-modules";
  const printed = output(process.execPath, [wasmOpt, wasm, "-o", wasm, ...ENABLE, ...STRIP, pass]);
  if (!printed) throw new Failure("wasm-opt could not shorten the import names");
  const names = JSON.parse(printed);
  let text = readFileSync(glue, "utf8");
  for (const [, from, to] of names.imports) {
    text = replaceOnce(text, new RegExp(`(?<=^\\s+)${from}(?=:)`, "m"), to);
  }
  text = replaceOnce(text, `"${GLUE_MODULE}": import0`, "a: import0");
  const exports = new Map(names.exports);
  text = text.replace(/\bwasm\.(\w+)/g, (_, name) => {
    if (!exports.has(name)) throw new Failure(`the glue uses ${name}, which the wasm does not export`);
    return `wasm.${exports.get(name)}`;
  });
  writeFileSync(glue, text);
}

/**
 * Whoever has the instance, be it wasm or JavaScript, hands it to the glue, and what would fetch one goes. Memory of
 * JavaScript that grows leaves the old buffer as it was, so a view is told to be old by its buffer.
 */
function mendGlue(glue) {
  let text = readFileSync(glue, "utf8");
  text = replaceOnce(
    text,
    "export { initSync, __wbg_init as default };",
    "export { __wbg_get_imports as imports, __wbg_finalize_init as adopt };",
  );
  const memory = text.match(/new DataView\((wasm\.\w+\.buffer)\)/)[1];
  text = replaceOnce(text, "cachedUint8ArrayMemory0.byteLength === 0", `cachedUint8ArrayMemory0.buffer !== ${memory}`);
  text = replaceOnce(
    text,
    /cachedDataViewMemory0\.buffer\.detached === true \|\| \(.*\)(?=\) \{)/,
    `cachedDataViewMemory0.buffer !== ${memory}`,
  );
  writeFileSync(glue, text);
}

/** The very same wasm as JavaScript: a module whose default export makes an instance's exports of its imports. */
function translate({ wasm, js }) {
  const lowered = path.join(out, `${NAME}.mvp.wasm`);
  optimise(wasm, lowered, ...ENABLE, ...LOWER);
  optimise(lowered, lowered, ...MVP, "-Oz", "--converge");
  run(process.execPath, [wasm2js, lowered, "-o", js, ...MVP, "-Oz"], { env: nativeEnv() });
  let text = readFileSync(js, "utf8");
  text = replaceOnce(text, /^import \* as \w+ from 'a';$/m, "export default (a) => {");
  text = replaceOnce(text, /^var retasmFunc = asmFunc\(\{[^}]*\}\);$[\s\S]*/m, "return asmFunc({ a });\n};\n");
  writeFileSync(js, text);
}

/** `pattern` without groups. */
function replaceOnce(text, pattern, replacement) {
  const parts = text.split(pattern);
  if (parts.length !== 2) throw new Failure(`what a tool wrote has ${parts.length - 1} times ${pattern}`);
  return parts.join(replacement);
}

function hash(...parts) {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part);
  return digest.digest("hex");
}
