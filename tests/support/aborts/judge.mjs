import assert from "node:assert/strict";

/** How many faults are shown; one defect shows at many steps. */
const SHOWN = 12;

/** Fails with what was found at the steps of a scenario. */
export function judge(t, { runs, steps, faults }) {
  t.diagnostic(`${runs} runs, ${steps} steps`);
  assert.ok(runs > 0);
  const more = faults.length > SHOWN ? [`and ${faults.length - SHOWN} more`] : [];
  assert.equal(faults.length, 0, [...faults.slice(0, SHOWN), ...more].join("\n"));
}
