// What a server's frameworks make of the package: each project of tests/frameworks is copied to target/frameworks, built
// there by the framework's own command and run.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "./server.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sources = path.join(root, "tests", "frameworks");
const copies = path.join(root, "target", "frameworks");

/** Where a program of them lies. */
export const installed = (...names) => path.join(sources, "node_modules", ...names);

/** Node of that line by its package, which exists for some platforms only. */
export const nodeOf = (major) => installed(`node-${major}`, "bin", "node");

/** For what Node 20 is too old for: the running one if that will do. Null where there is none. */
export function newerNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  return existsSync(nodeOf(22)) ? nodeOf(22) : null;
}

/** No telemetry, and none of the variables by which a test runner speaks to its children. */
function environment(more) {
  const off = { NEXT_TELEMETRY_DISABLED: "1", NUXT_TELEMETRY_DISABLED: "1", ASTRO_TELEMETRY_DISABLED: "1" };
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, ...env } = process.env;
  return { ...env, ...off, NODE_ENV: "production", CI: "1", ...more };
}

/** A fresh copy of a project, with the package as it is packed among its dependencies. */
export function copy(name, as = name) {
  mkdirSync(copies, { recursive: true });
  const modules = path.join(copies, "node_modules");
  rmSync(modules, { force: true });
  symlinkSync(path.join(sources, "node_modules"), modules, "junction");
  const placed = installed("steadfetch");
  rmSync(placed, { recursive: true, force: true });
  cpSync(path.join(root, "node_modules", "steadfetch"), placed, { recursive: true });
  const folder = path.join(copies, as);
  rmSync(folder, { recursive: true, force: true });
  for (const [from, to] of [
    ["lib", path.join(copies, "lib")],
    [name, folder],
  ]) {
    cpSync(path.join(sources, from), to, { recursive: true });
  }
  return folder;
}

/** Runs to the end; what it printed is in the error of a failure. */
export async function build(program, args, cwd) {
  await promisify(execFile)(program, args, { cwd, env: environment(), timeout: 540_000, killSignal: "SIGKILL" });
}

/**
 * Starts a server of one's own on a free port of loopback and waits until it listens. `stop()` ends it; `said()` is
 * what it printed.
 *
 * @param {(port: number) => string[]} args
 */
export async function serve(program, args, cwd) {
  const port = await freePort();
  const env = environment({ HOST: "127.0.0.1", PORT: String(port), NITRO_HOST: "127.0.0.1" });
  const child = spawn(program, args(port), { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  child.on("error", (error) => (said += error));
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`);
      return listens(port);
    },
    `${path.basename(program)} to listen`,
  );
  return { url, said: () => said, stop: () => stop(child) };
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "close");
}

async function freePort() {
  const server = net.createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address();
  await once(server.close(), "close");
  return port;
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
