// Runs the crate of benches/core: criterion's times, and the instructions of each scenario by callgrind.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { missingForInstructions, nativeEnv } from "../toolchain.mjs";
import { Failure, output, root, run } from "./run.mjs";

export const BENCH_CRATE = ["--manifest-path", "benches/core/Cargo.toml"];
export const BENCH_TARGET = path.join(root, "target", "benches");
const CRITERION = path.join(root, "target", "criterion");

const env = () => ({ ...nativeEnv(), CARGO_TARGET_DIR: BENCH_TARGET, CRITERION_HOME: CRITERION });

/** What a bench target prints. */
function printed(command, ...rest) {
  const args = [command, "--quiet", "--locked", ...BENCH_CRATE, ...rest];
  const text = output("cargo", args, { env: env(), stdio: ["ignore", "pipe", "inherit"] });
  if (text === null) throw new Failure(`\`cargo ${args.join(" ")}\` failed`);
  return text;
}

/** `{ success: 1842, … }`, instructions per transition, which each run counts the same. */
export function instructions() {
  const missing = missingForInstructions();
  if (missing) throw new Failure(`${missing} not found`, "Run: npm run setup");
  const transitions = JSON.parse(printed("run", "--profile", "bench", "--example", "transitions"));
  const counted = printed("bench", "--bench", "instructions", "--", "--output-format=json");
  return Object.fromEntries(
    counted
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ id, profiles: [{ data }] }) => [id, Math.round(data.total.metrics.Ir.values.new / transitions[id])]),
  );
}

/** `[{ name: "countdown_10000", transitions: 10000, ns: 400, perSecond: 2500000 }, …]`, `ns` for one transition. */
export function times() {
  // What an earlier run left may be of a bench that is no more.
  rmSync(CRITERION, { recursive: true, force: true });
  run("cargo", ["bench", "--quiet", "--locked", ...BENCH_CRATE, "--bench", "speed", "--", "--noplot"], { env: env() });
  return readdirSync(CRITERION, { recursive: true })
    .filter((file) => path.basename(file) === "benchmark.json" && path.basename(path.dirname(file)) === "new")
    .map((file) => time(path.join(CRITERION, path.dirname(file))));
}

/** By the median: other programs of the machine move the mean. */
function time(folder) {
  const read = (name) => JSON.parse(readFileSync(path.join(folder, name), "utf8"));
  const { group_id: group, function_id: name, value_str: calls, throughput } = read("benchmark.json");
  const transitions = throughput.Elements;
  const ns = read("estimates.json").median.point_estimate / transitions;
  return { name: name ?? `${group}_${calls}`, transitions, ns, perSecond: 1e9 / ns };
}
