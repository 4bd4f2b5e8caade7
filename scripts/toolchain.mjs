// Which Rust builds the wasm, and which browser runs it. Other scripts ask here and nowhere else.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { debianEnv, debianReady, LINKED_TOOLCHAIN } from "./lib/debian.mjs";
import { baseEnv, Failure, output, root, which } from "./lib/run.mjs";

export const TARGET = "wasm32-unknown-unknown";
export const WASM_PACK_VERSION = "0.15.1";
export const CARGO_FUZZ_VERSION = "0.13.2";
export const GECKODRIVER_VERSION = "0.37.1";

/** On Windows, libFuzzer wants a sanitizer, and with it a nightly Rust. */
export const canFuzz = process.platform !== "win32";

/** Where a command line tool must be of the very version that a crate links against: which that is. */
function lockedVersion(lockFile, crate) {
  const lock = readFileSync(path.join(root, lockFile), "utf8");
  const found = lock.match(new RegExp(`name = "${crate}"\\r?\\nversion = "([^"]+)"`));
  if (!found) throw new Failure(`${lockFile} names no ${crate}`);
  return found[1];
}

export const wasmBindgenVersion = () => lockedVersion("Cargo.lock", "wasm-bindgen");
export const gungraunVersion = () => lockedVersion("benches/core/Cargo.lock", "gungraun");

/** A value of Cargo.toml's [package] table. */
export function cargoField(name) {
  const manifest = readFileSync(path.join(root, "Cargo.toml"), "utf8");
  const found = manifest.match(new RegExp(`^${name} = "([^"]+)"`, "m"));
  if (!found) throw new Failure(`Cargo.toml has no ${name}`);
  return found[1];
}

/** For native cargo: the toolchain the user has chosen, never the stand-in for wasm. */
export function nativeEnv() {
  const env = baseEnv();
  if (env.RUSTUP_TOOLCHAIN === LINKED_TOOLCHAIN) delete env.RUSTUP_TOOLCHAIN;
  return env;
}

/** True when rustup's own toolchain has a standard library for wasm32. */
export function rustupHasTarget() {
  const args = ["--print", "target-libdir", "--target", TARGET];
  const dir = output("rustc", args, { env: nativeEnv() });
  return dir !== null && existsSync(dir) && readdirSync(dir).some((f) => /^libcore-.*rlib$/.test(f));
}

/** For cargo with `--target wasm32-unknown-unknown`. */
export function wasmEnv() {
  if (rustupHasTarget()) return nativeEnv();
  if (debianReady()) return debianEnv(nativeEnv());
  throw new Failure(`no Rust standard library for ${TARGET}`, "Run: npm run setup");
}

const BROWSERS = {
  linux: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ],
};

/** Path of Chromium or Chrome, or null. STEADFETCH_CHROMIUM wins. */
export function chromium() {
  const named = process.env.STEADFETCH_CHROMIUM;
  if (named) return existsSync(named) ? named : null;
  return (BROWSERS[process.platform] ?? []).find((file) => existsSync(file)) ?? null;
}

/** Path of its WebDriver, or null. CHROMEDRIVER wins. */
export function chromedriver() {
  const named = process.env.CHROMEDRIVER;
  if (named) return existsSync(named) ? named : null;
  return which("chromedriver");
}

/** What is missing for tests in Chromium; an empty text when nothing is. */
export function missingForChromium() {
  return [!chromium() && "Chromium", !chromedriver() && "chromedriver"].filter(Boolean).join(" and ");
}

const FIREFOXES = {
  darwin: ["/Applications/Firefox.app/Contents/MacOS/firefox"],
  win32: ["C:\\Program Files\\Mozilla Firefox\\firefox.exe"],
};

/** Path of Firefox, or null. STEADFETCH_FIREFOX wins. */
export function firefox() {
  const named = process.env.STEADFETCH_FIREFOX;
  if (named) return existsSync(named) ? named : null;
  return which("firefox-esr") ?? which("firefox") ?? FIREFOXES[process.platform]?.find((f) => existsSync(f)) ?? null;
}

/** Path of its WebDriver, or null. GECKODRIVER wins. */
export function geckodriver() {
  const named = process.env.GECKODRIVER;
  if (named) return existsSync(named) ? named : null;
  return which("geckodriver");
}

/** What is missing for tests in Firefox; an empty text when nothing is. */
export function missingForFirefox() {
  return [!firefox() && "Firefox", !geckodriver() && "geckodriver"].filter(Boolean).join(" and ");
}

/** Where the distributions put what WebKitGTK's driver starts. */
const MINI_BROWSERS = ["x86_64-linux-gnu/", "aarch64-linux-gnu/", ""].flatMap((arch) =>
  ["4.1", "6.0"].map((api) =>
    api === "6.0" ? `/usr/lib/${arch}webkitgtk-${api}/MiniBrowser` : `/usr/lib/${arch}webkit2gtk-${api}/MiniBrowser`,
  ),
);

/** Path of WebKitGTK's browser, or null. STEADFETCH_WEBKITGTK wins. */
export function miniBrowser() {
  const named = process.env.STEADFETCH_WEBKITGTK;
  if (named) return existsSync(named) ? named : null;
  return MINI_BROWSERS.find((file) => existsSync(file)) ?? null;
}

/** Path of its WebDriver, or null. WEBKITWEBDRIVER wins. */
export function webkitDriver() {
  const named = process.env.WEBKITWEBDRIVER;
  if (named) return existsSync(named) ? named : null;
  return which("WebKitWebDriver");
}

/** Path of the X server that needs no screen, or null: WebKitGTK has no mode without a window. */
export function xvfb() {
  return which("xvfb-run") && which("Xvfb");
}

/** What is missing for tests in WebKitGTK; an empty text when nothing is. */
export function missingForWebKit() {
  const parts = [!miniBrowser() && "WebKitGTK's MiniBrowser", !webkitDriver() && "WebKitWebDriver", !xvfb() && "Xvfb"];
  return parts.filter(Boolean).join(" and ");
}

/** Path of valgrind, whose callgrind counts instructions, or null. */
export function valgrind() {
  return which("valgrind");
}

/** Whether there is the runner that the benches of the core want. */
export function gungraunRunner() {
  const version = output("gungraun-runner", ["--version"]);
  return version?.endsWith(` ${gungraunVersion()}`) ? which("gungraun-runner") : null;
}

/** What is missing to count the core's instructions; an empty text when nothing is. */
export function missingForInstructions() {
  return [!valgrind() && "valgrind", !gungraunRunner() && "gungraun-runner"].filter(Boolean).join(" and ");
}
