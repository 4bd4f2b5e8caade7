// Running other programs, the same way on every platform. Only Node's own modules: this is used
// before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const cargoHome = process.env.CARGO_HOME ?? path.join(homedir(), ".cargo");

/** An expected failure: shown without a stack, with what to do about it. */
export class Failure extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** The environment every child starts from: npm's and cargo's binaries can be found by name. */
export function baseEnv() {
  const env = { ...process.env };
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  const bins = path.join(root, "node_modules", ".bin");
  env[key] = [bins, env[key], path.join(cargoHome, "bin")].filter(Boolean).join(path.delimiter);
  return env;
}

/** Trimmed standard output, or null when the program is missing or fails. */
export function output(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: baseEnv(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 64 << 20,
    ...options,
  });
  return result.status === 0 ? result.stdout.trim() : null;
}

/** Runs to the end with the terminal as it is; throws a Failure unless it succeeds. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: baseEnv(),
    stdio: "inherit",
    ...options,
  });
  if (result.status === 0) return;
  const why = result.error?.message ?? `it ended with ${result.signal ?? result.status}`;
  throw new Failure(`\`${[path.basename(command), ...args].join(" ")}\` failed: ${why}`);
}

/** Runs while showing and keeping what the program prints. */
export function tee(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: baseEnv(),
      stdio: ["ignore", "pipe", "pipe"],
      ...options,
    });
    let text = "";
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
        to.write(chunk);
      });
    }
    child.on("error", (error) => resolve({ ok: false, text: `${text}${error.message}\n` }));
    child.on("close", (code) => resolve({ ok: code === 0, text }));
  });
}

/** Where a program lies on PATH, or null. */
export function which(name) {
  const env = baseEnv();
  const dirs = (env.PATH ?? env.Path ?? "").split(path.delimiter).filter(Boolean);
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return dirs.map((dir) => path.join(dir, file)).find((found) => existsSync(found)) ?? null;
}

/** Ends the program the way a tool should: message and advice, no stack for the expected. */
export function exitWith(error) {
  if (!(error instanceof Failure)) throw error;
  console.error(`\nerror: ${error.message}`);
  if (error.hint) console.error(`\n${error.hint}`);
  process.exit(1);
}
