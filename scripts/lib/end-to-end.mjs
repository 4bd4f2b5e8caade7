// Runs the test files, each in a process of its own: a test is reported under the place that defines it, which may be a
// file many share. All run once, with Chromium where they want a browser; those of AREAS once more in each other engine.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { AREAS, ELSEWHERE, engines, note, noteElsewhere } from "./engines.mjs";
import { baseEnv, root, tee } from "./run.mjs";

export async function endToEnd(wanted) {
  const names = readdirSync(path.join(root, "tests")).filter((name) => name.endsWith(".test.mjs") && wanted(name));
  const results = [];
  for (const name of names.sort()) {
    const area = name.replace(".test.mjs", "");
    if (area in AREAS) results.push(await runArea(area, "chromium"));
    else if (area in ELSEWHERE) results.push(noteElsewhere(`tests/${name}`, await runFile(name, "chromium")));
    else results.push(await runFile(name, "chromium"));
  }
  return sum(results);
}

/** Most of a test is waiting, so the engines go side by side. What was built for Chromium is used again. */
export async function endToEndIn(others) {
  const results = await Promise.all(
    others.map(async (engine) => {
      const began = performance.now();
      const results = [];
      for (const area of Object.keys(AREAS)) {
        results.push(await runArea(area, engine, { STEADFETCH_BUILT: "1" }));
      }
      const seconds = (performance.now() - began) / 1_000;
      console.log(`end to end in ${engines[engine].title}: ${seconds.toFixed(1)} s`);
      return sum(results);
    }),
  );
  return sum(results);
}

async function runArea(area, engine, env) {
  const name = `${area}.test.mjs`;
  return note(engine, `tests/${name}`, await runFile(name, engine, env));
}

export function sum(results) {
  return {
    ok: results.every(({ ok }) => ok),
    passed: results.reduce((total, { passed }) => total + passed, 0),
    failed: results.reduce((total, { failed }) => total + failed, 0),
  };
}

async function runFile(name, engine, env) {
  const counts = path.join(root, "target", `tests-counted-${engine}.json`);
  mkdirSync(path.dirname(counts), { recursive: true });
  rmSync(counts, { force: true });
  const began = performance.now();
  const reporters = Object.entries({ spec: "stdout", "./scripts/lib/count-reporter.mjs": counts });
  const options = reporters.flatMap(([reporter, to]) => [
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${to}`,
  ]);
  const { ok } = await tee(process.execPath, ["--test", ...options, path.join("tests", name)], {
    env: { ...baseEnv(), STEADFETCH_ENGINE: engine, ...env },
  });
  const text = existsSync(counts) ? readFileSync(counts, "utf8") : ""; // empty when the runner itself broke
  const { passed, failed, exceptions } = JSON.parse(text || '{"passed":0,"failed":0,"exceptions":[]}');
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  if (env) console.log(`tests/${name} in ${engines[engine].title}: ${passed} passed, ${failed} failed, ${seconds} s`);
  if (passed + failed === 0) console.log(`tests/${name} executed no test`);
  return { ok: ok && passed + failed > 0, passed, failed, exceptions };
}
