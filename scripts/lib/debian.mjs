// What only Debian needs: packages, and a wasm32 standard library for machines that cannot reach
// rustup's server. Debian ships a newer rustc and the sources of std, but std not built for wasm32;
// so it is built once, laid into that rustc's sysroot and linked into rustup as toolchain "wasm".
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { baseEnv, cargoHome, Failure, output, root, run, which } from "./run.mjs";

export const LINKED_TOOLCHAIN = "wasm";
const TARGET = "wasm32-unknown-unknown";
const LINKER = "wasm-ld-22";
const TOOLCHAIN_PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-clippy", "lld-22"];
const SYSROOT = "/usr";
const TARGET_DIR = `${SYSROOT}/lib/rustlib/${TARGET}`;
const STAMP = `${TARGET_DIR}/built-from`;
// Bitcode allows the release profile's fat LTO; the crate "test" is what the browser tests link.
const STD_FLAGS = "-Cembed-bitcode=yes -Copt-level=s";
const STD_ARGS = ["-Zbuild-std=std,panic_abort,test", "-Zbuild-std-features=optimize_for_size"];

export function isDebian() {
  if (process.platform !== "linux" || !which("apt-get")) return false;
  return /^ID=debian$/m.test(readFileSync("/etc/os-release", "utf8"));
}

function asRoot(command, args, options) {
  if (process.getuid() === 0) return run(command, args, options);
  if (!which("sudo")) {
    throw new Failure(
      `\`${command} ${args.join(" ")}\` needs root, and there is no sudo`,
      "Run it by hand as root, then run the set-up again.",
    );
  }
  run("sudo", [command, ...args], options);
}

/** `--no-remove`: a conflict must stop the set-up, not uninstall something of the user's. */
export function aptInstall(packages) {
  const apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"];
  const [command, ...args] = apt;
  asRoot(command, [...args, "update"]);
  asRoot(command, [...args, "install", "--no-install-recommends", "--no-remove", ...packages]);
}

/** Tells a standard library built by another compiler, or in another way, from the right one. */
function recipe() {
  const rustc = output(`${SYSROOT}/bin/rustc`, ["-vV"]);
  return rustc && [rustc, STD_FLAGS, ...STD_ARGS, ""].join("\n");
}

function hasTools() {
  return ["rustc", "cargo", "cargo-clippy", LINKER].every((f) => existsSync(`${SYSROOT}/bin/${f}`));
}

function hasStd() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === recipe();
}

function isLinked() {
  const args = ["run", LINKED_TOOLCHAIN, "rustc", "--print", "sysroot"];
  return output("rustup", args) === SYSROOT;
}

export function debianReady() {
  return process.platform === "linux" && hasTools() && hasStd() && isLinked();
}

export function debianEnv(env) {
  return {
    ...env,
    RUSTUP_TOOLCHAIN: LINKED_TOOLCHAIN,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: LINKER,
  };
}

function buildStd() {
  const dir = mkdtempSync(path.join(tmpdir(), "wasm-std-"));
  try {
    mkdirSync(`${dir}/src`);
    writeFileSync(`${dir}/src/lib.rs`, "");
    writeFileSync(`${dir}/Cargo.toml`, '[package]\nname = "seed"\nedition = "2021"\n');
    const cargo = (args, flags) =>
      run(`${SYSROOT}/bin/cargo`, [...args, "--target", TARGET, ...STD_ARGS], {
        cwd: dir,
        env: {
          ...baseEnv(),
          RUSTC: `${SYSROOT}/bin/rustc`,
          RUSTC_BOOTSTRAP: "1",
          RUSTFLAGS: flags.join(" "),
          CARGO_TARGET_DIR: `${dir}/target`,
          CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: LINKER,
        },
      });
    cargo(["fetch"], []);
    cargo(["build", "--release"], [STD_FLAGS, ...officialNames()]);
    copyStd(`${dir}/target/${TARGET}/release/deps`, `${dir}/out`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  // Cargo does not notice that the standard library changed.
  rmSync(path.join(root, "target", TARGET), { recursive: true, force: true });
}

/** Panic messages name source files: by the names they have in the official libraries, not this machine's. */
function officialNames() {
  const hash = output(`${SYSROOT}/bin/rustc`, ["-vV"]).match(/commit-hash: (\S+)/)[1];
  const sources = `${SYSROOT}/lib/rustlib/src/rust`;
  const registry = path.join(cargoHome, "registry", "src");
  return [
    ...[sources, realpathSync(sources)].map((from) => `--remap-path-prefix=${from}=/rustc/${hash}`),
    ...readdirSync(registry).map((name) => `--remap-path-prefix=${registry}/${name}=/rust/deps`),
  ];
}

function copyStd(from, staged) {
  mkdirSync(`${staged}/lib`, { recursive: true });
  for (const file of readdirSync(from)) {
    if (file.endsWith(".rlib") && !file.startsWith("libseed-")) cpSync(`${from}/${file}`, `${staged}/lib/${file}`);
  }
  writeFileSync(`${staged}/${path.basename(STAMP)}`, recipe());
  // Moved into place at the end: an interrupted copy must not look like a finished one.
  asRoot("rm", ["-rf", TARGET_DIR, `${TARGET_DIR}.new`]);
  asRoot("mkdir", ["-p", path.dirname(TARGET_DIR)]);
  asRoot("cp", ["-r", staged, `${TARGET_DIR}.new`]);
  asRoot("chmod", ["-R", "a+rX", `${TARGET_DIR}.new`]);
  asRoot("mv", [`${TARGET_DIR}.new`, TARGET_DIR]);
}

/** Installs what is missing of the stand-in toolchain. */
export function installDebianToolchain() {
  if (!hasTools()) aptInstall(TOOLCHAIN_PACKAGES);
  if (!hasStd()) {
    console.log("   building std for wasm32 from Debian's sources (once, a minute or two)");
    buildStd();
  }
  if (!isLinked()) run("rustup", ["toolchain", "link", LINKED_TOOLCHAIN, SYSROOT]);
}
