// `npm run crashes`: random schedules in which tabs with an outbox die, and what became of their entries. The figures go to
// docs/crashes.json, from which scripts/readme-crashes.mjs writes the README. `--schedules=1000 --seed=1` is the default;
// `--first=41 --schedules=1` is one of them again.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { crashes } from "../tests/support/crashes/run.mjs";
import { start } from "../tests/support/launch.mjs";
import { exitWith, Failure, root } from "./lib/run.mjs";

const SCHEDULES = 1_000;

async function main() {
  const options = { schedules: { type: "string" }, seed: { type: "string" }, first: { type: "string" } };
  const given = Object.entries(parseArgs({ options }).values).map(([name, value]) => [name, Number(value)]);
  const asked = { schedules: SCHEDULES, seed: 1, first: 0, ...Object.fromEntries(given) };
  const browser = await start("chromium");
  try {
    const { total, points, wrong } = await crashes(browser, {
      ...asked,
      tell: ({ schedules }) => schedules % 50 === 0 && console.log(`${schedules} schedules`),
    });
    console.log(
      Object.entries(total)
        .map(([name, count]) => `${name} ${count}`)
        .join(", "),
    );
    for (const { nth, wrong: what, result } of wrong) {
      console.log(`--first=${nth} --schedules=1: ${what.join("; ")}, after ${JSON.stringify(result.kills)}`);
    }
    // Fewer of them say less.
    if (total.schedules >= SCHEDULES) {
      const version = browser.version();
      const figures = {
        date: new Date().toISOString(),
        engine: `Chromium ${version}`,
        seed: asked.seed,
        total,
        points,
      };
      writeFileSync(path.join(root, "docs", "crashes.json"), `${JSON.stringify(figures, null, 2)}\n`);
    }
    if (wrong.length) throw new Failure(`${wrong.length} schedules went wrong`);
  } finally {
    await browser.close();
  }
}

await main().catch(exitWith);
