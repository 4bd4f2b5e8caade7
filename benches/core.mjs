// The part of `npm run bench` about the core by itself, built natively: times by criterion, instructions by callgrind.
import { instructions, times } from "../scripts/lib/core-benches.mjs";
import { missingForInstructions } from "../scripts/toolchain.mjs";

export const title = "The core, natively";

const NAMES = {
  success: "start, success",
  retry: "start, failure, backoff, retry, success",
  circuit: "a circuit opens, is half-open, closes",
  countdown_10000: "10,000 waiting calls count down",
  beside_100000: "start, success, beside 100,000 waiting calls",
  cancel_waiting_10000: "one signal cancels 10,000 waiting calls",
  cancel_queued_10000: "one signal cancels 10,000 calls queued for a circuit",
};

/** How the kinds of crowds are named in the result. */
const CROWDS = {
  countdown: "nsPerEvent",
  beside: "nsPerTransitionBeside",
  cancel_waiting: "nsPerCancelled",
  cancel_queued: "nsPerCancelledInQueue",
};

/** `criterion` is what each scenario takes, `growth` the same by the number of calls that wait. */
export async function run() {
  const criterion = times();
  const missing = missingForInstructions();
  return {
    criterion,
    instructions: missing ? { skipped: `${missing} not found` } : instructions(),
    growth: growth(criterion),
  };
}

function growth(criterion) {
  const rows = new Map();
  for (const { name, ns } of criterion) {
    const [, kind, calls] = name.match(/^(\w+)_(\d+)$/) ?? [];
    if (!kind) continue;
    rows.set(calls, { ...rows.get(calls), calls: Number(calls), [CROWDS[kind]]: ns });
  }
  return [...rows.values()].sort((one, other) => one.calls - other.calls);
}

const whole = (number) => Math.round(number).toLocaleString("en");
const row = (cells) => `| ${cells.join(" | ")} |\n`;

/** The section about it, in markdown. */
export function tell({ criterion, instructions, growth }) {
  const of = (name) => criterion.find((each) => each.name === name);
  const scenarios = Object.entries(NAMES).map(([name, words]) => {
    const { ns, perSecond } = of(name);
    return row([words, whole(ns), whole(perSecond), instructions[name] ? whole(instructions[name]) : "-"]);
  });
  const crowds = growth.map(({ calls, ...ns }) =>
    row([whole(calls), ...Object.values(CROWDS).map((kind) => whole(ns[kind]))]),
  );
  const ms = (name) => `${((of(name).ns * of(name).transitions) / 1e6).toFixed(1)} ms`;
  const skipped = instructions.skipped ? `, and were not counted: ${instructions.skipped}` : "";
  return `A transition is what the core tells: a state of a call, its end, or a change of a circuit. The core is built as for the
package, for size. The time is the median on this machine; the instructions are the same in each run${skipped}.

| | ns per transition | transitions per second | instructions per transition |
| --- | --: | --: | --: |
${scenarios.join("")}
One second of 10,000 countdowns takes ${ms("countdown_10000")}. To cancel 10,000 calls by one signal takes
${ms("cancel_waiting_10000")} where they wait for their next attempt and ${ms("cancel_queued_10000")} where they wait for a circuit.

Nanoseconds per event, by the number of calls that wait:

| calls | a countdown's step | a call's transition beside them | one cancelled | one cancelled in a circuit's queue |
| --: | --: | --: | --: | --: |
${crowds.join("")}`;
}
