// Sets up, then runs every stage and sums up. `--quick` leaves out what needs a browser, `--consumers` all
// but the projects of users. Stages after a failed one still run, so that one look shows all there is to mend; only a
// failed build ends it.
import { told } from "./lib/engines.mjs";
import { exitWith } from "./lib/run.mjs";
import { stages } from "./lib/stages.mjs";
import { setup } from "./setup.mjs";

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function execute(stage) {
  console.log(`\n=== ${stage.name}`);
  const began = performance.now();
  const { ok, passed = 0, failed = 0, skipped } = await stage.run();
  const idle = stage.tests && passed + failed === 0;
  if (idle) console.log("no test was executed");
  return { name: stage.name, ok: ok && !idle && failed === 0, passed, failed, skipped, time: seconds(began) };
}

async function test() {
  const began = performance.now();
  console.log("=== set-up");
  const quick = process.argv.includes("--quick");
  setup({ tests: !quick });
  const results = [];
  const consumers = process.argv.includes("--consumers");
  for (const stage of stages.filter((each) => (each.quick || !quick) && (each.consumers || !consumers))) {
    const result = await execute(stage);
    results.push(result);
    console.log(`--- ${result.ok ? "ok" : "FAILED"}: ${result.name}, ${result.time}`);
    if (stage.name === "build" && !result.ok) break;
  }
  console.log(`\n=== summary, ${seconds(began)}`);
  for (const { name, ok, passed, skipped, time } of results) {
    const tests = passed ? `, ${passed} tests` : "";
    const what = skipped ? `: SKIPPED, ${skipped} not found` : ` (${time}${tests})`;
    console.log(`${ok ? "ok    " : "FAILED"} ${name}${what}`);
  }
  const passed = results.reduce((total, result) => total + result.passed, 0);
  // A stage that failed without naming a test counts as one failure.
  const failed = results.reduce((total, result) => total + (result.ok ? 0 : result.failed || 1), 0);
  const { lines, missing } = quick || consumers ? { lines: [], missing: [] } : told();
  for (const line of lines) console.log(line);
  console.log(`${passed} passed, ${failed} failed${missing.map((title) => `, ${title} not tested`).join("")}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await test().catch(exitWith);
