// Of what and where something was measured.
import os from "node:os";
import { newerNode, versionOf } from "../../../benches/lib/node.mjs";
import { cargoField, wasmEnv } from "../../toolchain.mjs";
import { engines } from "../engines.mjs";
import { output } from "../run.mjs";

/** Those that parts measure in. */
const BROWSERS = ["chromium", "firefox"];

export function surroundings() {
  const cpus = os.cpus();
  const node = newerNode();
  const found = BROWSERS.map((name) => engines[name]).filter((engine) => !engine.missing());
  return {
    package: cargoField("version"),
    commit: commit(),
    cpu: `${cpus.length} × ${cpus[0].model.trim()}`,
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    node: node && versionOf(node),
    engines: Object.fromEntries(found.map(({ title, version }) => [title, version()])),
    rustc: output("rustc", ["--version"], { env: wasmEnv() })?.split(" ")[1] ?? null,
  };
}

/** With a plus where the working tree differs, but for what the benches write. */
function commit() {
  const hash = output("git", ["rev-parse", "--short=10", "HEAD"]);
  if (!hash) return null;
  const written = ["results.json", "results.md", "functions.md", "*.svg"].map((name) => `:!benches/${name}`);
  return hash + (output("git", ["status", "--porcelain", "--", ".", ...written, ":!*.md"]) ? "+" : "");
}
