// From the crate to the wasm that ships, and to the same as JavaScript.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import binaryen from "binaryen";
import { nativeEnv, TARGET, wasmEnv } from "../toolchain.mjs";
import { Failure, output, root, run } from "./run.mjs";

const NAME = "steadfetch";
const folderOf = (feature) => path.join(root, "target", "web", feature);
/** A wasm with the names of its functions. */
const namedOf = (feature) => path.join(folderOf(feature), `${NAME}.names.wasm`);
/** That of the client. */
export const NAMED = namedOf("client");
const tool = (name) => path.join(root, "node_modules", "binaryen", "bin", name);
const wasmOpt = tool("wasm-opt");
const wasm2js = tool("wasm2js");

// What rustc's wasm32-unknown-unknown may use, but for what JavaScript cannot stand in for. wasm-opt is told no more
// than that: with `--all-features` it writes types that browsers reject.
const FEATURES = ["bulk-memory", "bulk-memory-opt", "mutable-globals", "sign-ext"];
const ENABLE = ["--mvp-features", ...FEATURES.map((name) => `--enable-${name}`)];
/**
 * What binaryen puts in the place of the conversions that saturate makes zeros of what is too large; the compiler does it
 * right.
 */
const UNWANTED = ["reference-types", "multivalue", "nontrapping-fptoint"];
/** In the (mangled) paths of functions that are there for what a panic says. */
const SILENT = /3fmt|panic|Payload|do_count_chars|slice_index_fail|handle_alloc_error|handle_error|capacity_overflow/;
const OPTIMISE = [
  ...ENABLE,
  "-Oz",
  "--converge",
  "--one-caller-inline-max-function-size=20",
  "--low-memory-unused", // it is the far end of the stack
  "--reorder-functions-by-name",
];
/** In the place of what wasm2js does not know. */
const LOWER = ["--llvm-memory-copy-fill-lowering", "--signext-lowering"];
const MVP = ["--mvp-features", "--enable-mutable-globals"];
const STRIP = ["--strip-debug", "--strip-producers", "--strip-target-features"];

/**
 * Builds one boundary of the crate, by the feature that has it, and returns `{ bytes, js }`: the wasm, and the path of the
 * same wasm as JavaScript. With `names`, also leaves a copy that keeps its function names, for size studies.
 */
export function buildWasm(feature, { names = false } = {}) {
  const compiled = compile(feature);
  const out = folderOf(feature);
  const named = namedOf(feature);
  const files = {
    wasm: path.join(out, `${NAME}.wasm`),
    js: path.join(out, `${NAME}.wasm.js`),
    stamp: path.join(out, "stamp"),
  };
  const stamp = hash(readFileSync(compiled), readFileSync(new URL(import.meta.url)));
  const fresh = Object.values(files).every(existsSync) && readFileSync(files.stamp, "utf8") === stamp;
  if (!fresh || (names && !existsSync(named))) {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const silent = path.join(out, `${NAME}.silent.wasm`);
    writeFileSync(silent, silence(readFileSync(compiled)));
    optimise(silent, files.wasm, ...OPTIMISE, ...STRIP);
    blank(files.wasm);
    if (names) optimise(silent, named, ...OPTIMISE, "-g");
    translate(files);
    const module = new WebAssembly.Module(readFileSync(files.wasm)); // throws if an engine would refuse it
    if (WebAssembly.Module.imports(module).length > 0) throw new Failure("the wasm has imports");
    writeFileSync(files.stamp, stamp);
  }
  return { bytes: readFileSync(files.wasm), js: files.js };
}

/** Each has a folder of its own: what is compiled for one is nothing to the other. */
function compile(feature) {
  const env = wasmEnv();
  const renamed = sourceFolders(env);
  const flags = [
    ...renamed.map(([from, to]) => `--remap-path-prefix=${from}=${to}`),
    `-Ctarget-feature=${UNWANTED.map((name) => `-${name}`).join()}`,
  ];
  const folder = path.join(root, "target", "wasm", feature);
  const features = ["--no-default-features", "--features", feature, "--target-dir", folder];
  run("cargo", ["build", "--release", "--lib", "--locked", "--target", TARGET, ...features], {
    env: { ...env, CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f") },
  });
  const file = path.join(folder, TARGET, "release", `${NAME}.wasm`);
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
 * A panic traps, so nobody ever reads its message: what makes one, and what the linker exports besides, goes. Where a
 * name is another one day, the wasm is larger.
 */
function silence(bytes) {
  binaryen.setDebugInfo(true);
  const module = binaryen.readBinary(bytes);
  const all = Array.from({ length: module.getNumFunctions() }, (_, index) => module.getFunctionByIndex(index));
  for (const { name, params, results } of all.map(binaryen.getFunctionInfo)) {
    if (!SILENT.test(name)) continue;
    module.removeFunction(name);
    module.addFunction(name, params, results, [], module.unreachable());
  }
  for (const name of ["__data_end", "__heap_base"]) module.removeExport(name);
  return module.emitBinary();
}

/** What nobody reads: where panics come from, and what they say. */
const UNREAD = [
  /(?:\/rustc\/[0-9a-f]{40}|\/crates\/[\w.-]+|src)\/[\w/.-]+?\.rs/g,
  /00010203(?:\d\d){92}96979899/g,
  /slice index starts at | but ends at |range (?:start|end) index |" out of range for slice of length /g,
  /assertion failed: [ijk] <= self\.len\(\)|assertion failed: [ijk] < self\.len\(\)|attempt to divide by zero|capacity overflow/g,
  /cannot access a Thread Local Storage value during or after destruction: /g,
];

/** Zeros in their place, which take no room once they are packed. */
function blank(file) {
  const text = UNREAD.reduce(
    (text, unread) => text.replace(unread, (found) => "\0".repeat(found.length)),
    readFileSync(file, "latin1"),
  );
  writeFileSync(file, text, "latin1");
}

function optimise(from, to, ...flags) {
  run(process.execPath, [wasmOpt, from, "-o", to, ...flags], { env: nativeEnv() });
}

/** The very same wasm as JavaScript: a module whose default export makes what an instance exports. */
function translate({ wasm, js }) {
  const lowered = path.join(path.dirname(js), `${NAME}.mvp.wasm`);
  optimise(wasm, lowered, ...ENABLE, ...LOWER);
  optimise(lowered, lowered, ...MVP, "-Oz", "--converge");
  run(process.execPath, [wasm2js, lowered, "-o", js, ...MVP, "-Oz"], { env: nativeEnv() });
  const text = readFileSync(js, "utf8");
  const body = replaceOnce(text, /^var retasmFunc = (?=asmFunc\(\{)/m, "return ");
  writeFileSync(js, `export default () => {\n${body.replace(/^export var .*$/gm, "")}\n};\n`);
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
