// Every check the project has, in the order from quick to slow. A stage resolves to `{ ok, passed, failed }`, or to
// `{ ok, skipped }` with what is missing; one marked `tests` fails when it executed none.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  canFuzz,
  chromedriver,
  chromium,
  firefox,
  geckodriver,
  miniBrowser,
  missingForInstructions,
  nativeEnv,
  TARGET,
  wasmEnv,
  webkitDriver,
} from "../toolchain.mjs";
import { BENCH_CRATE, BENCH_TARGET } from "./core-benches.mjs";
import { endToEnd, endToEndIn, sum } from "./end-to-end.mjs";
import { engines, note } from "./engines.mjs";
import { root, tee } from "./run.mjs";

const bin = (name) => path.join(root, "node_modules", name);
const tsc = bin("typescript/bin/tsc");
const biome = bin("@biomejs/biome/bin/biome");
const DENY = ["--", "-D", "warnings"];
/** All but the model, which takes more than a minute. There are no doc tests. */
const QUICK_TESTS = ["--lib", "--test", "core", "--test", "soak"];
const FUZZ_TARGETS = ["hints", "call"];
const FUZZ_SECONDS = 30;
const FUZZ_CRATE = ["--manifest-path", "fuzz/Cargo.toml"];
/** The tests that build whole projects. */
const CONSUMERS = "consumers-";
const DOC = ["doc", "--no-deps", "--document-private-items"];

/** After the set-up, which may have brought them. */
const found = () => Object.keys(engines).filter((engine) => !engines[engine].missing());

/** `quick` ones need no browser; `consumers` is what it takes to see the package in its users' tools. */
export const stages = [
  { name: "build", quick: true, consumers: true, run: () => node(["scripts/build.mjs"]) },
  { name: "rustfmt", quick: true, run: () => cargo(["fmt", "--check"]) },
  { name: "clippy", quick: true, run: () => cargo(["clippy", "--all-targets", ...DENY]) },
  { name: "clippy, wasm32", quick: true, run: () => cargoWasm(["clippy", "--all-targets", "--all-features", ...DENY]) },
  { name: "tsc, sources", quick: true, run: () => node([tsc, "-p", "pkg-template"]) },
  { name: "tsc, types and their use", quick: true, run: () => node([tsc, "-p", "tsconfig.json"]) },
  { name: "tsc, types in a worker", quick: true, run: () => node([tsc, "-p", "tsconfig.worker.json"]) },
  { name: "tsc, the example for Preact", quick: true, run: () => node([tsc, "-p", "tsconfig.preact.json"]) },
  { name: "tsc, the example for Solid", quick: true, run: () => node([tsc, "-p", "tsconfig.solid.json"]) },
  { name: "tsc, libraries unchecked", quick: true, run: () => node([tsc, "-p", "tsconfig.json", "--skipLibCheck"]) },
  { name: "code in the documents", quick: true, run: () => node(["examples/check.mjs"]) },
  { name: "notices of third parties", quick: true, run: () => node(["scripts/notices.mjs", "--check"]) },
  { name: "size limits", quick: true, run: () => node(["scripts/size-limits.mjs"]) },
  { name: "figures of the benches", quick: true, run: () => node(["scripts/readme-bench.mjs", "--check"]) },
  { name: "figures of the crashes", quick: true, run: () => node(["scripts/readme-crashes.mjs", "--check"]) },
  { name: "sizes of the modules", run: () => node(["scripts/module-sizes.mjs"]) },
  { name: "report of the types", quick: true, run: () => node(["scripts/api-report.mjs", "--check"]) },
  { name: "pages about the types", quick: true, run: () => node(["scripts/docs.mjs", "--check"]) },
  { name: "biome", quick: true, run: () => node([biome, "ci", "--colors=off"]) },
  { name: "cargo test", quick: true, tests: true, run: async () => countRust(await cargo(["test", ...QUICK_TESTS])) },
  { name: "cargo test, model", tests: true, run: async () => countRust(await cargo(["test", "--test", "model"])) },
  { name: "cargo doc", run: () => cargo(DOC, { RUSTDOCFLAGS: "-D warnings" }) },
  { name: "cargo doc, wasm32", run: () => cargoWasm(DOC, { RUSTDOCFLAGS: "-D warnings" }) },
  { name: "rustfmt, fuzz", quick: true, run: () => cargo(["fmt", "--check", ...FUZZ_CRATE]) },
  { name: "rustfmt, benches", quick: true, run: () => cargo(["fmt", "--check", ...BENCH_CRATE]) },
  { name: "clippy, benches", run: clippyBenches },
  { name: "instructions", run: instructions },
  ...(canFuzz
    ? [
        { name: "clippy, fuzz", run: clippyFuzz },
        { name: "fuzz", tests: true, run: fuzz },
      ]
    : []),
  { name: "wasm-pack test", tests: true, run: async () => sum(await inTurn(found(), wasmPack)) },
  { name: "end to end", tests: true, run: () => endToEnd((name) => !name.startsWith(CONSUMERS)) },
  { name: "consumers", consumers: true, tests: true, run: () => endToEnd((name) => name.startsWith(CONSUMERS)) },
  { name: "end to end, other engines", run: () => endToEndIn(found().filter((engine) => engine !== "chromium")) },
];

async function inTurn(all, act) {
  const results = [];
  for (const each of all) results.push(await act(each));
  return results;
}

function node(args) {
  return tee(process.execPath, args);
}

function cargo(args, env) {
  return tee("cargo", args, { env: { ...nativeEnv(), ...env } });
}

function cargoWasm([command, ...args], env) {
  return tee("cargo", [command, "--target", TARGET, ...args], { env: { ...wasmEnv(), ...env } });
}

function clippyFuzz() {
  return cargo(["clippy", ...FUZZ_CRATE, "--target-dir", "target/fuzz", "--all-targets", ...DENY]);
}

function clippyBenches() {
  return cargo(["clippy", "--locked", ...BENCH_CRATE, "--target-dir", BENCH_TARGET, "--all-targets", ...DENY]);
}

function instructions() {
  const skipped = missingForInstructions();
  if (!skipped) return node(["scripts/instructions.mjs"]);
  console.log(`not counted: ${skipped} not found, see npm run setup`);
  return { ok: true, skipped };
}

/**
 * Each target for half a minute, from the committed corpus: what it finds beyond stays in `target/fuzz`. Counts as one
 * test a target.
 */
async function fuzz() {
  const results = [];
  for (const target of FUZZ_TARGETS) {
    const found = path.join(root, "target", "fuzz", "found", target);
    const crashes = path.join(root, "target", "fuzz", "crashes", target);
    rmSync(found, { recursive: true, force: true });
    for (const dir of [found, crashes]) mkdirSync(dir, { recursive: true });
    const { ok, text } = await cargo([
      ...["fuzz", "run", target, "--sanitizer", "none", "--target-dir", "target/fuzz"],
      ...[found, path.join(root, "fuzz", "corpus", target), "--"],
      // The same seed each time, so that a run tells of the change at hand; others by hand.
      ...["-seed=2026", `-max_total_time=${FUZZ_SECONDS}`, "-timeout=20", "-verbosity=0", "-print_final_stats=1"],
      `-artifact_prefix=${crashes}${path.sep}`,
    ]);
    const runs = Number(text.match(/^stat::number_of_executed_units: *(\d+)/m)?.[1] ?? 0);
    const input = text.match(/Test unit written to (.+)/)?.[1];
    console.log(`${target}: ${runs} runs${ok ? "" : ", FAILED"}`);
    if (input) console.log(`  again: cargo fuzz run ${target} -s none --target-dir target/fuzz ${input}`);
    results.push(ok && runs > 0);
  }
  const passed = results.filter(Boolean).length;
  return { ok: passed === results.length, passed, failed: results.length - passed };
}

/** How wasm-pack is told of an engine; wasm-bindgen's runner takes WebKitGTK's driver for Safari's, which it is like. */
const WASM_PACK = {
  chromium: () => ({
    args: ["--chrome", "--chromedriver", chromedriver()],
    capabilities: {
      "goog:chromeOptions": {
        ...JSON.parse(readFileSync(path.join(root, "webdriver.json"), "utf8"))["goog:chromeOptions"],
        binary: chromium(),
      },
    },
  }),
  firefox: () => ({
    args: ["--firefox", "--geckodriver", geckodriver()],
    capabilities: { "moz:firefoxOptions": { binary: firefox(), args: ["-headless"] } },
  }),
  webkit: () => ({
    args: ["--safari", "--safaridriver", webkitDriver()],
    capabilities: { "webkitgtk:browserOptions": { binary: miniBrowser(), args: ["--automation"] } },
    within: ["xvfb-run", "-a"],
  }),
};

/** Naming the targets leaves out the doc tests: the runner finds no test in them and calls that passed. */
async function wasmPack(engine) {
  const { args, capabilities, within = [] } = WASM_PACK[engine]();
  const file = path.join(root, "target", "webdriver.json");
  writeFileSync(file, JSON.stringify(capabilities));
  const [program, ...rest] = [...within, "wasm-pack", "test", "--headless", ...args];
  const result = await tee(program, [...rest, "--mode", "no-install", ".", "--test", "web"], {
    env: {
      ...wasmEnv(),
      // Nothing here takes long enough to be worth an optimised build.
      CARGO_PROFILE_TEST_OPT_LEVEL: "0",
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: file,
      WASM_BINDGEN_TEST_TIMEOUT: "120",
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1",
    },
  });
  const { ok, ...counts } = countRust(result);
  return note(engine, "tests/web.rs", { ok: ok && counts.passed > 0, ...counts });
}

/** Adds up the lines `test result: ok. 3 passed; 0 failed; ...`, one for each test program. */
function countRust({ ok, text }) {
  const results = [...text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed/gm)];
  const sum = (group) => results.reduce((total, result) => total + Number(result[group]), 0);
  return { ok, passed: sum(1), failed: sum(2) };
}
