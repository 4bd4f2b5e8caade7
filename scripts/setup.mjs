// The one place that installs. Each step looks first and does nothing when all is there, so it can
// be run at any time; with everything in place it needs no network. `--check` only looks.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { aptInstall, debianReady, installDebianToolchain, isDebian } from "./lib/debian.mjs";
import { exitWith, Failure, output, root, run, which } from "./lib/run.mjs";
import {
  CARGO_FUZZ_VERSION,
  canFuzz,
  cargoField,
  chromedriver,
  chromium,
  firefox,
  GECKODRIVER_VERSION,
  geckodriver,
  gungraunVersion,
  miniBrowser,
  missingForWebKit,
  nativeEnv,
  rustupHasTarget,
  TARGET,
  valgrind,
  WASM_PACK_VERSION,
  wasmBindgenVersion,
  webkitDriver,
} from "./toolchain.mjs";

const NODE_MAJOR = 20;
const RUSTUP_PATIENCE_MS = 120_000;
/** No part of the root's installation: their `node` would be found before the user's own, and they want newer ones. */
const FRAMEWORKS = path.join(root, "tests", "frameworks");
const NOT_COUNTED = "the instructions of the core will not be counted";
/** Neither is this, for the same reason. */
const BENCHES = path.join(root, "benches");

// A step: `look` returns what is there, or null when `install` has to run; `byHand` is for the user
// whose machine the step cannot handle. One that is `forTests` is left to those who run them all; one that
// is `optional` is that too, and tells what goes without it instead of ending the set-up; the tests say so again.
const steps = [
  {
    name: `Node.js ${NODE_MAJOR} or newer`,
    why: "runs these scripts",
    look: () => (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR ? process.version : null),
    byHand: "Install Node.js from https://nodejs.org or with your version manager.",
  },
  {
    name: `Rust ${cargoField("rust-version")} or newer, with rustfmt and clippy`,
    why: "compiles, formats and lints the crate",
    look: lookForRust,
    install: () => run("rustup", ["component", "add", "rustfmt", "clippy"], { env: nativeEnv() }),
    byHand: "Install rustup from https://rustup.rs, then: rustup update stable",
  },
  {
    name: "C linker",
    why: "cargo links native programs with it",
    look: () => (process.platform === "win32" ? "comes with rustup's installer" : which("cc")),
    install: isDebian() ? () => aptInstall(["gcc", "libc6-dev"]) : undefined,
    byHand: "Install gcc or clang (macOS: xcode-select --install).",
  },
  {
    name: "npm packages",
    why: "bundler, wasm optimiser, type checker, linter, browser driver, all pinned",
    look: () => lookForNodeModules(root),
    install: () => run(...npm("ci")),
    byHand: "In the project's root: npm ci",
  },
  {
    name: "npm packages of the frameworks",
    why: "the servers that the package is tested in, and the newer Nodes that they want, 1.1 GB",
    forTests: true,
    look: () => lookForNodeModules(FRAMEWORKS),
    // `npm run` hands on the settings of the root, and some of these packages want a newer Node, which they bring.
    install: () => run(...npm("ci", "--engine-strict=false"), { cwd: FRAMEWORKS }),
    byHand: "In tests/frameworks: npm ci --engine-strict=false",
  },
  {
    name: "npm packages of the benches",
    why: "the peers that the package is measured against, and a newer Node, 220 MB",
    forTests: true,
    look: () => lookForNodeModules(BENCHES),
    install: () => run(...npm("ci", "--engine-strict=false"), { cwd: BENCHES }),
    byHand: "In benches: npm ci --engine-strict=false",
  },
  {
    name: `Rust standard library for ${TARGET}`,
    why: "the crate ships as WebAssembly",
    look: lookForTarget,
    install: installTarget,
    byHand: `With access to rustup's server: rustup target add ${TARGET}`,
  },
  cargoTool({
    crate: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    version: wasmBindgenVersion(),
    why: "has the runner of the Rust tests in a browser; its version is that of Cargo.lock",
    // Its own lock file pins releases that registry mirrors do not always serve.
    flags: [],
  }),
  cargoTool({
    crate: "wasm-pack",
    program: "wasm-pack",
    version: WASM_PACK_VERSION,
    why: "runs the Rust tests in a browser",
    flags: ["--locked"],
  }),
  ...(canFuzz ? fuzzing() : []),
  {
    name: "Chromium and its WebDriver",
    why: "the browser of the tests",
    look: () => chromium() && chromedriver() && `${chromium()}, ${chromedriver()}`,
    install: isDebian() ? () => aptInstall(["chromium", "chromium-driver"]) : undefined,
    byHand:
      "Install Chrome or Chromium and the chromedriver of the same version (macOS: brew install\n" +
      "--cask google-chrome chromedriver; Windows: winget install Google.Chrome, and chromedriver\n" +
      "from https://googlechromelabs.github.io/chrome-for-testing). If they are not found after\n" +
      "that, set STEADFETCH_CHROMIUM and CHROMEDRIVER to the two programs.",
  },
  {
    name: "Firefox",
    why: "the tests run in it too",
    optional: "nothing will be tested in Firefox",
    look: firefox,
    install: isDebian() ? () => aptInstall(["firefox-esr"]) : undefined,
    byHand:
      "Install Firefox (macOS: brew install --cask firefox; Windows: winget install Mozilla.Firefox).\n" +
      "If it is not found after that, set STEADFETCH_FIREFOX to the program.",
  },
  {
    ...cargoTool({
      crate: "geckodriver",
      program: "geckodriver",
      version: GECKODRIVER_VERSION,
      why: "drives Firefox",
      flags: ["--locked"],
    }),
    optional: "nothing will be tested in Firefox",
    // One of another release will do.
    look: geckodriver,
  },
  {
    name: "WebKitGTK, its WebDriver and Xvfb",
    why: "the tests run in it too",
    optional: "nothing will be tested in WebKitGTK",
    look: () => (missingForWebKit() ? null : `${miniBrowser()}, ${webkitDriver()}`),
    install: isDebian() ? () => aptInstall(["webkit2gtk-driver", "xvfb", "xauth"]) : undefined,
    byHand:
      "WebKitGTK is for Linux. Install its MiniBrowser and WebKitWebDriver, and xvfb-run (Fedora: webkit2gtk4.1\n" +
      "and xorg-x11-server-Xvfb; Ubuntu: webkit2gtk-driver, xvfb and xauth). If they are not found after that,\n" +
      "set STEADFETCH_WEBKITGTK and WEBKITWEBDRIVER to the first two.",
  },
  {
    name: "valgrind",
    why: "its callgrind counts the core's instructions",
    optional: NOT_COUNTED,
    look: valgrind,
    install: isDebian() ? () => aptInstall(["valgrind"]) : undefined,
    byHand: "Install valgrind, which is not for Windows, nor for newer Macs.",
  },
  {
    ...cargoTool({
      crate: "gungraun-runner",
      program: "gungraun-runner",
      version: gungraunVersion(),
      why: "runs the benches of the core under valgrind; its version is that of benches/core/Cargo.lock",
      flags: ["--locked"],
    }),
    optional: NOT_COUNTED,
  },
];

/** No nightly Rust: without a sanitizer, which safe code has no need of, cargo-fuzz runs on the stable one. */
function fuzzing() {
  return [
    {
      name: "C++ compiler",
      why: "libFuzzer, which the fuzz targets link, is C++",
      look: () => which("c++"),
      install: isDebian() ? () => aptInstall(["g++"]) : undefined,
      byHand: "Install g++ or clang (macOS: xcode-select --install).",
    },
    cargoTool({
      crate: "cargo-fuzz",
      program: "cargo-fuzz",
      version: CARGO_FUZZ_VERSION,
      why: "builds and runs the fuzz targets of the core",
      flags: ["--locked"],
    }),
  ];
}

function lookForRust() {
  const env = nativeEnv();
  const version = output("rustc", ["--version"], { env })?.match(/\d+\.\d+\.\d+/)?.[0];
  if (!version || !output("rustup", ["--version"])) return null;
  const numbers = (text) => text.split(".").map(Number);
  const [major, minor] = numbers(version);
  const [wantedMajor, wantedMinor] = numbers(cargoField("rust-version"));
  if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) return null;
  const parts = [["fmt"], ["clippy"]].map((part) => output("cargo", [...part, "--version"], { env }));
  return parts.every(Boolean) ? version : null;
}

/** Compares the lock file with the one npm keeps of what it installed. */
function lookForNodeModules(project) {
  const hidden = path.join(project, "node_modules", ".package-lock.json");
  if (!existsSync(hidden)) return null;
  const read = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
  const wanted = Object.entries(read(path.join(project, "package-lock.json"))).filter(
    ([where, entry]) => where !== "" && isForThisMachine(entry),
  );
  const installed = read(hidden);
  // npm leaves out what only another platform's variant needs.
  const same = ([where, { version, optional }]) =>
    (optional && !installed[where]) ||
    (installed[where]?.version === version && existsSync(path.join(project, where, "package.json")));
  return wanted.every(same) ? `${wanted.length}, as in package-lock.json` : null;
}

function isForThisMachine({ os, cpu, libc }) {
  return (
    (os?.includes(process.platform) ?? true) &&
    (cpu?.includes(process.arch) ?? true) &&
    (libc?.includes(process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl") ?? true)
  );
}

/** npm as arguments of `run`; on Windows its .cmd file cannot be spawned, its script can. */
function npm(...args) {
  if (process.platform !== "win32") return ["npm", args];
  const bundled = path.join(path.dirname(process.execPath), "node_modules/npm/bin/npm-cli.js");
  return [process.execPath, [process.env.npm_execpath ?? bundled, ...args]];
}

function lookForTarget() {
  if (rustupHasTarget()) return "from rustup";
  return debianReady() ? "built from Debian's sources, toolchain `wasm`" : null;
}

function installTarget() {
  try {
    run("rustup", ["target", "add", TARGET], { env: nativeEnv(), timeout: RUSTUP_PATIENCE_MS });
  } catch (error) {
    if (!isDebian()) throw error;
    console.log("   rustup cannot fetch it here; using Debian's Rust for the wasm instead");
    installDebianToolchain();
  }
}

function cargoTool({ crate, program, version, why, flags }) {
  // Cargo may still have it on its list though the program is gone.
  const install = ["install", crate, "--version", version, "--force", ...flags];
  return {
    name: `${crate} ${version}`,
    why: `${why} (built from source, some minutes)`,
    look: () => (output(program, ["--version"])?.endsWith(` ${version}`) ? program : null),
    install: () => run("cargo", install, { env: nativeEnv() }),
    byHand: `By hand: cargo ${install.join(" ")}`,
  };
}

function attempt(step) {
  const found = step.look();
  if (found) return console.log(`ok ${step.name} (${found})`);
  console.log(`.. ${step.name}: missing, ${step.why}`);
  if (!step.install) throw new Failure(`no ${step.name}`, step.byHand);
  try {
    step.install();
  } catch (error) {
    if (error instanceof Failure) error.hint ??= step.byHand;
    throw error;
  }
  const now = step.look();
  if (!now) throw new Failure(`${step.name}: installed, but still not found`, step.byHand);
  console.log(`ok ${step.name} (${now})`);
}

function attemptOptional(step) {
  try {
    attempt(step);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    console.log(`-- ${error.message}: ${step.optional}\n${error.hint.replace(/^/gm, "   ")}`);
  }
}

/**
 * Makes everything ready, or all but what only tests want; throws a Failure at the first step that
 * cannot be done.
 */
export function setup({ tests = true } = {}) {
  for (const step of steps) {
    if (step.optional && tests) attemptOptional(step);
    else if (tests || !(step.optional || step.forTests)) attempt(step);
  }
}

/** Makes ready what is measured against; the rest has to be there. */
export function setupBenches() {
  attempt(steps.find(({ name }) => name.endsWith("benches")));
}

/** Prints what is there and what is not; true when nothing is missing. */
export function check() {
  const missing = steps.filter((step) => {
    const found = step.look();
    console.log(found ? `ok ${step.name} (${found})` : `-- ${step.name}: missing, ${step.why}`);
    return !found;
  });
  return missing.length === 0;
}

export function main() {
  try {
    if (!process.argv.includes("--check")) setup();
    else if (!check()) process.exitCode = 1;
  } catch (error) {
    exitWith(error);
  }
}
