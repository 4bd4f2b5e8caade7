// Thousands of calls of every ending leave nothing behind. `npm run bench -- leak` has a million of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { launch } from "./support/browser.mjs";
import { heapOf } from "./support/heap.mjs";
import { runModule } from "./support/node.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

const CALLS = 500;
const ROUNDS = 8;
/** After each so many rounds of calls. What the first two leave is code, and tables that have grown to their size. */
const LOOKS = 5;
const WARM = 1;
/** In bytes for each call: no object is so small. */
const SLIGHT = 10;
/** By which memory of WebAssembly grows. */
const PAGE = 65_536;

const endings = new URL("support/endings.mjs", import.meta.url);
const PATIENCE = { timeout: 180_000 };

/** Nothing is waited for or listened to, and each call ended as it should. */
function assertOver({ left, ends, expected }) {
  assert.deepEqual(left, { listeners: 0, live: 0, pending: 0 });
  for (const [name, seen] of Object.entries(ends)) {
    const { plain: _, [expected[name]]: right = 0, ...wrong } = seen;
    assert.ok(right > 0, `"${name}" was never ${expected[name]}`);
    assert.deepEqual(wrong, {}, `"${name}" was not always ${expected[name]}`);
  }
}

test("calls of every ending leave nothing in a page", PATIENCE, async (t) => {
  const files = await packageFiles({
    "/endings.mjs": { headers: { "Content-Type": "text/javascript" }, body: readFileSync(endings, "utf8") },
  });
  const server = await startServer({ files });
  t.after(() => server.close());
  const page = await (await launch()).newPage();
  t.after(() => page.close());
  await page.goto(server.url);
  await page.evaluate(async () => {
    const { countMemory, world } = await import("/endings.mjs");
    globalThis.memory = countMemory();
    globalThis.world = world(await import("steadfetch"));
  });
  const heap = await heapOf(page);

  const looks = [];
  for (let i = 0; i < LOOKS; i++) {
    await page.evaluate(
      async ([rounds, calls]) => {
        for (let i = 0; i < rounds; i++) await globalThis.world.round(calls);
      },
      [ROUNDS, CALLS],
    );
    looks.push({ ...(await heap()), wasm: await page.evaluate(() => globalThis.memory()) });
    assertOver(
      await page.evaluate(() => {
        const { left, ends, expected } = globalThis.world;
        return { left: left(), ends, expected };
      }),
    );
  }

  const [early, late] = [looks[WARM], looks.at(-1)];
  const calls = (LOOKS - 1 - WARM) * ROUNDS * CALLS;
  assert.deepEqual(late.objects, { AbortController: 0, AbortSignal: 1, Request: 0, Response: 0 });
  assert.ok(early.wasm > 0);
  assert.ok(late.wasm - early.wasm <= PAGE, `the WebAssembly has ${late.wasm - early.wasm} bytes more`);
  const grown = late.script + late.behind - early.script - early.behind;
  assert.ok(grown < calls * SLIGHT, `${grown} bytes are left of ${calls} calls`);
});

// Node compiles for longer, and its heap has nothing else to tell by.
const NODE_LOOKS = 8;
const NODE_WARM = 4;

// Node 20 itself remembers every signal that its AbortSignal.any() made of one that lives on.
test("nor do they without AbortSignal.any()", PATIENCE, async () => {
  const { over, heaps } = await runModule(
    `
    import * as steadfetch from "steadfetch";
    import { world } from ${JSON.stringify(endings)};
    delete AbortSignal.any;
    const { round, left, ends, expected } = world(steadfetch);
    const heaps = [];
    for (let i = 0; i < ${NODE_LOOKS}; i++) {
      for (let j = 0; j < ${ROUNDS / 2}; j++) await round(${CALLS});
      for (let j = 0; j < 4; j++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        gc();
      }
      heaps.push(process.memoryUsage().heapUsed);
    }
    report({ over: { left: left(), ends, expected }, heaps });
  `,
    { flags: ["--expose-gc"], patience: 120_000 },
  );
  assertOver(over);
  const calls = ((NODE_LOOKS - 1 - NODE_WARM) * ROUNDS * CALLS) / 2;
  const grown = heaps.at(-1) - heaps[NODE_WARM];
  assert.ok(grown < 2 * calls * SLIGHT, `${grown} bytes are left of ${calls} calls`);
});
