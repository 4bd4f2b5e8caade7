// What calls of every ending leave in Node; run by `inNode()` with what part `leak` asks for, and --expose-gc.
import { setTimeout as sleep } from "node:timers/promises";
import * as steadfetch from "steadfetch";
import { countMemory, world } from "../../tests/support/endings.mjs";

const COLLECTIONS = 4;
const TURN = 20;

const { looks, rounds, calls } = JSON.parse(process.argv[2]);
const memory = countMemory();
const { round, left } = world(steadfetch);

async function look(after) {
  for (let i = 0; i < COLLECTIONS; i++) {
    globalThis.gc();
    await sleep(TURN);
  }
  const { heapUsed, external } = process.memoryUsage();
  const wasm = memory();
  return { after, wasm, script: heapUsed, behind: external - wasm, ...left() };
}

for (let i = 0; i < rounds; i++) await round(calls);
const start = await look(0);
const seen = [];
for (let i = 1; i <= looks; i++) {
  for (let j = 0; j < rounds; j++) await round(calls);
  seen.push(await look(i * rounds * calls));
}
console.log(JSON.stringify({ start, looks: seen }));
