// A million calls in one page, of every ending, and what they leave behind.
import { fileURLToPath } from "node:url";
import { heapOf } from "../tests/support/heap.mjs";
import { bundle } from "./lib/bundle.mjs";
import { digits, table } from "./lib/figures.mjs";
import { inNode, newerNode } from "./lib/node.mjs";
import { inPage } from "./lib/page.mjs";

export const title = "A million calls and what they leave";

const CALLS = 1_000_000;
/** How often it is looked at what is left. */
const LOOKS = 10;
/** Calls at once. */
const ROUND = 1_000;

const WORLD = 'export * from "steadfetch"; export * from "../tests/support/endings.mjs";';
const IN_NODE = fileURLToPath(new URL("lib/leak-node.mjs", import.meta.url));

/** @param {{ calls?: number | string }} [options] */
export async function run({ calls = CALLS } = {}) {
  const rounds = Math.max(1, Math.round(Number(calls) / LOOKS / ROUND));
  const size = { looks: LOOKS, rounds, calls: ROUND };
  const chromium = await inChromium(size);
  const node = newerNode() && (await inNode(IN_NODE, { input: size, flags: ["--expose-gc"] }));
  return { chromium, node };
}

async function inChromium({ looks, rounds, calls }) {
  return inPage("chromium", await bundle(WORLD), async (page) => {
    await page.evaluate(() => {
      const { bench } = globalThis;
      globalThis.memory = bench.countMemory();
      globalThis.world = bench.world(bench);
    });
    const heap = await heapOf(page);
    const more = (rounds) =>
      page.evaluate(
        async ([rounds, calls]) => {
          for (let i = 0; i < rounds; i++) await globalThis.world.round(calls);
        },
        [rounds, calls],
      );
    const look = async (after) => {
      const { objects, script, behind } = await heap();
      const [wasm, left] = await page.evaluate(() => [globalThis.memory(), globalThis.world.left()]);
      return { after, wasm, script, behind, ...objects, ...left };
    };
    // What is made once and stays: code, the tables of a client, room for as many clients as wait for a collection.
    await more(rounds);
    const start = await look(0);
    const seen = [];
    for (let i = 1; i <= looks; i++) {
      await more(rounds);
      seen.push(await look(i * rounds * calls));
    }
    return { start, looks: seen, ends: await page.evaluate(() => globalThis.world.ends) };
  });
}

const count = (number) => number.toLocaleString("en-GB");
const kB = (bytes) => count(Math.round(bytes / 1_000));

/** By the name of what was looked at. */
const COLUMNS = {
  after: ["calls", count],
  wasm: ["WebAssembly, kB", kB],
  script: ["objects, kB", kB],
  behind: ["behind them, kB", kB],
  Request: ["requests", count],
  Response: ["responses", count],
  AbortSignal: ["signals", count],
  listeners: ["listeners on the signal that stays", count],
  live: ["calls", count],
};

export function tell({ chromium, node }) {
  return `Calls of ${Object.keys(chromium.ends).length} endings, ${count(ROUND)} at a time: successes, each kind of failure, out of retries, of time or of budget, given
up before, during and between attempts, offline, behind a circuit. They share signals, one of which stays for good. Some are of
a client that stays, others of one that is extended from it, of clients that are disposed of and of clients that are forgotten.

${told("Chromium", chromium)}
${node ? told("Node", node) : ""}`;
}

function told(where, { start, looks }) {
  const last = looks.at(-1);
  const wasm = last.wasm - start.wasm;
  const more = last.script + last.behind - start.script - start.behind;
  const columns = Object.entries(COLUMNS).filter(([name]) => name in start);
  return `${where}, after garbage collection. From the first line, which has as many calls before it as each other, to the last the memory
of the WebAssembly has grown by ${count(wasm)} bytes, all else by ${count(more)}: ${digits((wasm + more) / last.after, 2)} bytes a call.

${table(
  columns.map(([, [head]]) => head),
  [start, ...looks].map((look) => columns.map(([name, [, show]]) => show(look[name]))),
)}`;
}
