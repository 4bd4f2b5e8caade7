// Every check the project has, in the order from quick to slow. A stage resolves to
// `{ ok, passed, failed }`; one marked `tests` fails when it executed none.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { canFuzz, chromedriver, chromium, nativeEnv, TARGET, wasmEnv } from "../toolchain.mjs";
import { root, tee } from "./run.mjs";

const bin = (name) => path.join(root, "node_modules", name);
const tsc = bin("typescript/bin/tsc");
const biome = bin("@biomejs/biome/bin/biome");
const DENY = ["--", "-D", "warnings"];
/** All but the model, which takes more than a minute. There are no doc tests. */
const QUICK_TESTS = ["--lib", "--test", "core", "--test", "soak"];
const FUZZ_TARGETS = ["hints", "call"];
const FUZZ_SECONDS = 60;
const FUZZ_CRATE = ["--manifest-path", "fuzz/Cargo.toml"];
/** The tests that build whole projects. */
const CONSUMERS = "consumers-";
const DOC = ["doc", "--no-deps", "--document-private-items"];

/** `quick` ones need no browser; `consumers` is what it takes to see the package in its users' tools. */
export const stages = [
  { name: "build", quick: true, consumers: true, run: () => node(["scripts/build.mjs"]) },
  { name: "rustfmt", quick: true, run: () => cargo(["fmt", "--check"]) },
  { name: "clippy", quick: true, run: () => cargo(["clippy", "--all-targets", ...DENY]) },
  { name: "clippy, wasm32", quick: true, run: () => cargoWasm(["clippy", "--all-targets", ...DENY]) },
  { name: "tsc, sources", quick: true, run: () => node([tsc, "-p", "pkg-template"]) },
  { name: "tsc, types and their use", quick: true, run: () => node([tsc, "-p", "tsconfig.json"]) },
  { name: "tsc, types in a worker", quick: true, run: () => node([tsc, "-p", "tsconfig.worker.json"]) },
  { name: "tsc, the example for Preact", quick: true, run: () => node([tsc, "-p", "tsconfig.preact.json"]) },
  { name: "tsc, the example for Solid", quick: true, run: () => node([tsc, "-p", "tsconfig.solid.json"]) },
  { name: "tsc, libraries unchecked", quick: true, run: () => node([tsc, "-p", "tsconfig.json", "--skipLibCheck"]) },
  { name: "code in the documents", quick: true, run: () => node(["examples/check.mjs"]) },
  { name: "notices of third parties", quick: true, run: () => node(["scripts/notices.mjs", "--check"]) },
  { name: "size limits", quick: true, run: () => node(["scripts/size-limits.mjs"]) },
  { name: "report of the types", quick: true, run: () => node(["scripts/api-report.mjs", "--check"]) },
  { name: "pages about the types", quick: true, run: () => node(["scripts/docs.mjs", "--check"]) },
  { name: "biome", quick: true, run: () => node([biome, "ci", "--colors=off"]) },
  { name: "cargo test", quick: true, tests: true, run: async () => countRust(await cargo(["test", ...QUICK_TESTS])) },
  { name: "cargo test, model", tests: true, run: async () => countRust(await cargo(["test", "--test", "model"])) },
  { name: "cargo doc", run: () => cargo(DOC, { RUSTDOCFLAGS: "-D warnings" }) },
  { name: "cargo doc, wasm32", run: () => cargoWasm(DOC, { RUSTDOCFLAGS: "-D warnings" }) },
  { name: "rustfmt, fuzz", quick: true, run: () => cargo(["fmt", "--check", ...FUZZ_CRATE]) },
  ...(canFuzz
    ? [
        { name: "clippy, fuzz", run: clippyFuzz },
        { name: "fuzz", tests: true, run: fuzz },
      ]
    : []),
  { name: "wasm-pack test", tests: true, run: async () => countRust(await wasmPack()) },
  { name: "end to end", tests: true, run: () => testFiles((name) => !name.startsWith(CONSUMERS)) },
  { name: "consumers", consumers: true, tests: true, run: () => testFiles((name) => name.startsWith(CONSUMERS)) },
];

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

/**
 * Each target for a minute, from the committed corpus: what it finds beyond stays in `target/fuzz`. Counts as one
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

/** Naming the targets leaves out the doc tests: the runner finds no test in them and calls that passed. */
function wasmPack() {
  const capabilities = JSON.parse(readFileSync(path.join(root, "webdriver.json"), "utf8"));
  capabilities["goog:chromeOptions"].binary = chromium();
  const file = path.join(root, "target", "webdriver.json");
  writeFileSync(file, JSON.stringify(capabilities));
  const args = ["--headless", "--chrome", "--chromedriver", chromedriver(), "--mode", "no-install"];
  return tee("wasm-pack", ["test", ...args, ".", "--test", "web"], {
    env: {
      ...wasmEnv(),
      // Nothing here takes long enough to be worth an optimised build.
      CARGO_PROFILE_TEST_OPT_LEVEL: "0",
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: file,
      WASM_BINDGEN_TEST_TIMEOUT: "120",
    },
  });
}

/** Adds up the lines `test result: ok. 3 passed; 0 failed; ...`, one for each test program. */
function countRust({ ok, text }) {
  const results = [...text.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed/gm)];
  const sum = (group) => results.reduce((total, result) => total + Number(result[group]), 0);
  return { ok, passed: sum(1), failed: sum(2) };
}

/** One run a file: a test is reported under the place that defines it, which may be a file many share. */
async function testFiles(wanted) {
  const names = readdirSync(path.join(root, "tests")).filter((name) => name.endsWith(".test.mjs") && wanted(name));
  const total = { ok: true, passed: 0, failed: 0 };
  for (const name of names.sort()) {
    const { ok, passed, failed } = await runTestFile(path.join("tests", name));
    if (passed + failed === 0) console.log(`tests/${name} executed no test`);
    total.ok &&= ok && passed + failed > 0;
    total.passed += passed;
    total.failed += failed;
  }
  return total;
}

async function runTestFile(file) {
  const counts = path.join(root, "target", "tests-counted.json");
  mkdirSync(path.dirname(counts), { recursive: true });
  rmSync(counts, { force: true });
  const { ok } = await node([
    "--test",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/lib/count-reporter.mjs",
    `--test-reporter-destination=${counts}`,
    file,
  ]);
  const text = existsSync(counts) ? readFileSync(counts, "utf8") : "";
  return { ok, ...JSON.parse(text || '{"passed":0,"failed":0}') }; // empty when the runner itself broke
}
