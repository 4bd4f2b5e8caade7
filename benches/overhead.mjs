import { fileURLToPath } from "node:url";
import { engines } from "../scripts/lib/engines.mjs";
import { startServer } from "../tests/support/server.mjs";
import { bundle } from "./lib/bundle.mjs";
import { digits, ratio, spread, table } from "./lib/figures.mjs";
import { inNode, newerNode, versionOf } from "./lib/node.mjs";
import { answerSmall, inPage, SMALL } from "./lib/page.mjs";
import { bars } from "./lib/plot.mjs";

export const title = "Overhead of a call that succeeds";

const GOAL_PEER = "cockatiel";
const GOAL_LOOPBACK = 0.02;
const WAYS = { overStub: { rounds: 30, ms: 30, warm: 400 }, overServer: { blocks: 16, rounds: 30 } };
/** A page that is isolated has a clock of a finer grain. */
const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
const BROWSERS = ["chromium", "firefox"];

export async function run() {
  const places = {};
  for (const engine of BROWSERS) places[engines[engine].title] = await inBrowser(engine);
  places.Node = await inNewerNode();
  const { peers } = await import("./peers.mjs"); // which nobody needs who only reads results
  const breakers = Object.keys(peers).filter((name) => peers[name].breaker);
  return { ways: WAYS, breakers, places, costs: await costs() };
}

async function inBrowser(engine) {
  const missing = engines[engine].missing();
  if (missing) return { missing: `${missing} not found` };
  return inPage(
    engine,
    await bundle('export * from "./lib/rounds.mjs"'),
    (page, server) =>
      compare(engines[engine].title, engines[engine].version(), server, (way, how) =>
        page.evaluate(([way, how]) => globalThis.bench[way](how), [way, how]),
      ),
    { headers: ISOLATED },
  );
}

async function inNewerNode() {
  const node = newerNode();
  if (!node) return { missing: "no Node that is new enough for all peers" };
  const file = fileURLToPath(new URL("lib/rounds-node.mjs", import.meta.url));
  const server = await startServer({ files: answerSmall });
  try {
    return await compare("Node", versionOf(node), server, (way, how) => inNode(file, { input: [way, how] }));
  } finally {
    await server.close();
  }
}

async function compare(place, version, server, act) {
  const found = { version };
  for (const [way, how] of Object.entries(WAYS)) {
    console.log(`${place}, ${way}`);
    found[way] = await act(way, { ...how, url: server.url + SMALL });
  }
  return found;
}

// ---------------------------------------------------------------- what it is made of

async function costs() {
  const missing = engines.chromium.missing();
  if (missing) return { missing: `${missing} not found` };
  const code = await bundle('import "./lib/counting.mjs"; export * from "./lib/costs.mjs"');
  const found = await inPage("chromium", code, (page) => page.evaluate(() => globalThis.bench.costs()));
  return Object.fromEntries(Object.entries(found).map(([name, counts]) => [name, { counts }]));
}

const LISTENERS = /^EventTarget\.(add|remove)EventListener$/;
/** The rows of the table by what is added up; what is left over comes last. */
const ROWS = {
  "`Request`s made": /^new Request$/,
  "`Headers` made": /^new Headers$/,
  "copies by `clone()`": /\.clone$/,
  "`AbortController`s": /^new AbortController$/,
  "`AbortSignal.any()`": /^AbortSignal\.any$/,
  "timers set": /^setTimeout$/,
  "timers cleared": /^clearTimeout$/,
  "listeners added and removed": LISTENERS,
  "clocks read": /\.now$/,
  "properties and methods of the platform's objects": /properties read$|^(Headers|Request|Response)\.(?!clone)/,
  "calls into WebAssembly": /^wasm: /,
};

const sumOf = (counts, pattern) =>
  Object.entries(counts).reduce((sum, [name, times]) => sum + (pattern.test(name) ? times : 0), 0);

// ---------------------------------------------------------------- what is told

/** By peer: microseconds per call, those above native and the ratio to it, each round's by that round's native. */
function figures(times) {
  const { native, ...others } = times;
  const found = { native: { us: spread(native) } };
  for (const [name, own] of Object.entries(others)) {
    found[name] = {
      us: spread(own),
      above: spread(own.map((us, i) => us - native[i])),
      ratio: spread(own.map((us, i) => us / native[i])),
    };
  }
  return found;
}

const isPeer = (name) => !/^(native|steadfetch)\b/.test(name);
const label = (name) => (name === "loop" ? "hand-written loop" : name);
const bold = (name) => (name === "steadfetch" ? "**steadfetch**" : label(name));
const range = ({ low, high }, show = digits) => `${show(low)} to ${show(high)}`;

export function tell({ ways: { overStub, overServer }, breakers, places, costs }) {
  const found = Object.entries(places).filter(([, { missing }]) => !missing);
  const missing = Object.entries(places).filter(([, { missing }]) => missing);
  return `Calls one after the other, with retries configured, none of which is needed. All peers take turns, in an order of chance.
Figures are medians; what is above native is by native's turn in the same round. "native, again" is native once more:
by what it differs from native, chance does. "native, cancellable" is a \`Request\` with a signal of its own each time, which is what it
takes to end a call by a limit of time.

${missing.map(([place, { missing }]) => `NOT MEASURED in ${place}: ${missing}.\n\n`).join("")}### Over a stub, microseconds per call

The fetch answers at once with a response that is made once and not read. ${overStub.rounds} rounds, in which a turn takes about
${overStub.ms} ms, so that the grain of the clock does not count.

${found.map(([place, each]) => stubTable(place, each, breakers)).join("\n")}
${found.map(([place, each]) => stubVerdict(place, figures(each.overStub))).join("\n")}

### Over loopback, as a ratio to native

A server sends a few bytes, which are read. A turn is one call; ${overServer.blocks} blocks of ${overServer.rounds} rounds, of each block the median.
In brackets the quartiles of the blocks.

${loopbackTable(found)}
${found.map(([place, each]) => loopbackVerdict(place, figures(each.overServer))).join("\n")}

### What a successful call costs

${costs.missing ? `NOT MEASURED: ${costs.missing}.` : costsTable(costs)}
`;
}

function stubTable(place, { version, overStub }, breakers) {
  const all = figures(overStub);
  const own = all.steadfetch.above.median;
  const sorted = Object.entries(all).sort(([, a], [, b]) => a.us.median - b.us.median);
  const rows = sorted.map(([name, { us, above }]) => [
    bold(name),
    breakers.includes(name) ? "yes" : "",
    digits(us.median),
    above ? digits(above.median) : "",
    above ? range(above) : "",
    isPeer(name) && above ? ratio(own, above.median) : "",
  ]);
  return table([`${place} ${version}`, "circuit breaker", "per call", "above native", "quartiles", "ours is"], rows);
}

function stubVerdict(place, all) {
  const own = all.steadfetch.above.median;
  const goal = all[GOAL_PEER].above.median;
  const cheaper = Object.keys(all).filter((name) => isPeer(name) && all[name].above?.median < own);
  const met = own <= goal ? "met" : "not met";
  const dearer = Object.keys(all).filter((name) => isPeer(name) && all[name].above?.median >= own);
  return `- ${place}: ${digits(own)} µs above native, ${ratio(own, goal)} ${GOAL_PEER}; the goal of at most ${GOAL_PEER}'s is ${met}. Cheaper: ${listed(cheaper)}. Not cheaper: ${listed(dearer)}.`;
}

const listed = (names) => names.map(label).join(", ") || "none";

function loopbackTable(found) {
  const names = Object.keys(found[0]?.[1].overServer ?? {});
  const all = found.map(([, { overServer }]) => figures(overServer));
  const three = (value) => value.toFixed(3);
  const row = (name) => [
    bold(name),
    ...all.map(({ [name]: { us, ratio } }) =>
      ratio ? `${three(ratio.median)} (${range(ratio, three)})` : `${digits(us.median)} µs`,
    ),
  ];
  return table(["", ...found.map(([place]) => place)], names.map(row));
}

function loopbackVerdict(place, { steadfetch, "native, again": again }) {
  const { median, low, high } = steadfetch.ratio;
  const percent = (ratio) => `${(100 * (ratio - 1)).toFixed(1)} %`;
  const most = 1 + GOAL_LOOPBACK;
  const met = high <= most ? "is met" : low > most ? "is not met" : "lies between the quartiles";
  return `- ${place}: ${percent(median)} above native, where chance makes ${percent(again.ratio.median)}; the goal of at most ${percent(most)} ${met}.`;
}

function costsTable(costs) {
  const names = Object.keys(costs).filter((name) => name !== "native");
  const cell = (times) => (times ? digits(times, times >= 1 ? Math.ceil(Math.log10(times + 1)) : 1) : "");
  const rows = Object.entries(ROWS).map(([what, pattern]) => [
    what,
    ...names.map((name) => cell(sumOf(costs[name].counts, pattern))),
  ]);
  const own = Object.entries(costs.steadfetch.counts).filter(([, times]) => times);
  const detail = own.toSorted(([, a], [, b]) => b - a).map(([what, times]) => [`\`${what}\``, cell(times)]);
  return `Counted over the stub in Chromium, in a run that is not timed; empty is none.

${table(["for each call", ...names.map(label)], rows)}
Of steadfetch one by one:

${table(["for each call", "times"], detail)}`;
}

export function plots({ places }) {
  const found = Object.entries(places).filter(([, { missing }]) => !missing);
  const groups = found.map(([place, { version, overStub }]) => {
    const rows = Object.entries(figures(overStub))
      .filter(([name, { above }]) => above?.median > 0 && (isPeer(name) || name === "steadfetch"))
      .sort(([, a], [, b]) => a.above.median - b.above.median)
      .map(([name, { above }]) => ({
        label: label(name),
        value: above.median,
        low: above.low,
        high: above.high,
        own: name === "steadfetch",
      }));
    return { label: `${place} ${version.match(/^\d+/)[0]}`, rows };
  });
  return {
    "overhead.svg": bars({
      title: "Overhead",
      desc: "What a call that succeeds takes above native fetch; medians and quartiles, shorter is better",
      unit: "µs",
      log: true,
      groups,
    }),
  };
}

/** For the table of the README. */
export function columns({ places }) {
  const measured = Object.entries(places).filter(([, { missing }]) => !missing);
  return Object.fromEntries(
    measured.map(([place, { overStub }]) => {
      const all = Object.entries(figures(overStub)).filter(([name]) => isPeer(name) || name === "steadfetch");
      const cells = all.map(([name, { above }]) => [name, above ? `${digits(above.median, 2)} µs` : ""]);
      return [`Above native, ${place}`, Object.fromEntries(cells)];
    }),
  );
}
