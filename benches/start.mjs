// From the evaluation of the module to the first call that is sent, in browsers and processes that are new each time.
import { fileURLToPath } from "node:url";
import { engines } from "../scripts/lib/engines.mjs";
import { bundle } from "./lib/bundle.mjs";
import { digits, ratio, spread, table } from "./lib/figures.mjs";
import { inNode, newerNode } from "./lib/node.mjs";
import { inPage } from "./lib/page.mjs";
import { SUBJECTS } from "./lib/start-subjects.mjs";

export const title = "Start";

const BROWSERS = ["chromium", "firefox"];
const REPEATS = 9;
/** A browser keeps compiled code only of what it has loaded more than once. */
const RELOADS = 4;
const HEADERS = {
  "Cache-Control": "max-age=3600",
  // Only isolated pages have a clock that is fine enough.
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
const IN_NODE = fileURLToPath(new URL("lib/start-node.mjs", import.meta.url));

/** @param {{ repeats?: number | string }} [options] */
export async function run({ repeats = REPEATS } = {}) {
  const raw = {};
  const note = (where, name, times) => ((raw[where] ??= {})[name] ??= []).push(times);
  const names = Object.keys(SUBJECTS);
  const codes = {};
  for (const name of names) codes[name] = await bundle(program(SUBJECTS[name]));
  const browsers = BROWSERS.filter((engine) => !engines[engine].missing());
  // In turns, so that what else the machine does meanwhile is borne by all.
  for (let i = 0; i < Number(repeats); i++) {
    for (const name of names) {
      for (const engine of browsers) {
        const { cold, warm } = await inBrowser(engine, codes[name]);
        note(`${engines[engine].title}, cold`, name, cold);
        note(`${engines[engine].title}, warm`, name, warm);
      }
      if (newerNode()) note("Node", name, await inNode(IN_NODE, { input: name }));
    }
  }
  const over = (all) => Object.fromEntries(Object.entries(STEPS).map(([key, step]) => [key, of(all.map(step))]));
  return Object.fromEntries(
    Object.entries(raw).map(([where, subjects]) => [
      where,
      Object.fromEntries(Object.entries(subjects).map(([name, all]) => [name, over(all)])),
    ]),
  );
}

const of = (values) => (values.every(Number.isFinite) ? spread(values) : null);

/** In milliseconds. */
const STEPS = {
  sent: ({ sent, began, called, ready }) => sent - began - (ready ? called - ready : 0),
  call: ({ sent, called }) => sent - called,
  blocked: ({ blocked }) => blocked,
  compiled: ({ compiled }) => compiled,
  instantiated: ({ instantiated }) => instantiated,
};

const program = ({ from, make, ready = false }) => `
  import "./lib/start-clock.mjs";
  import * as library from ${JSON.stringify(from)};
  import { call } from "./lib/start-with.mjs";
  await call(() => (${make})(library), ${ready});
`;

async function inBrowser(engine, code) {
  const times = (page) => page.evaluate(() => globalThis.start);
  return inPage(
    engine,
    code,
    async (page, { url }) => {
      const cold = await times(page);
      for (let i = 0; i < RELOADS; i++) {
        await page.goto(url);
        await page.evaluate(() => import("/bench.js"));
      }
      return { cold, warm: await times(page) };
    },
    { headers: HEADERS },
  );
}

export function tell(result) {
  const rows = Object.entries(result).flatMap(([where, subjects]) =>
    Object.entries(subjects).map(([name, steps]) => [
      `${where}: ${name === "ky" ? name : `**${name}**`}`,
      shown(steps.sent),
      ratio(steps.sent.median, subjects.ky.sent.median),
      shown(steps.call),
      shown(steps.blocked),
      name === "ky" ? "" : digits(steps.compiled.median, 2),
      name === "ky" ? "" : digits(steps.instantiated.median, 2),
    ]),
  );
  return `Milliseconds, medians with their quartiles. "To the first call" is from the evaluation of the module until the client calls its
fetch, the wait between \`ready()\` and the call left out; in Node it has the reading of the files in it. "Of that the call" is the
part after the call is made. Cold is the first load of a browser that has just been started with an empty profile, warm the ${RELOADS}th
reload of the page.

Decoding, compiling and making the instance happen in one go, in the first call or in \`ready()\`, and the page does nothing else
meanwhile: "blocked" is how long \`ready()\` takes until it returns.

${table(["", "to the first call", "against ky", "of that the call", "blocked", "compiling", "making the instance"], rows)}`;
}

const shown = (step) => (step ? `${digits(step.median, 2)} (${digits(step.low, 2)} to ${digits(step.high, 2)})` : "");
