// What `npm run bench` compares can be compared: each peer retries, answers, and has a circuit where it is said to.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { bundle } from "../benches/lib/bundle.mjs";
import { inPage } from "../benches/lib/page.mjs";
import { peers } from "../benches/peers.mjs";

const { native, ...others } = peers;
const RETRIES = 3;
const CALLS = 6;

/** By peer: what its calls came to in a page, and how many requests the server got. */
let retried;
let down;

before(async () => {
  const code = await bundle('export { peers } from "./peers.mjs"');
  [retried, down] = await inPage("chromium", code, async (page, server) => [
    await each(page, server, [503, 503, { body: "hello" }], 1),
    await each(page, server, [503], CALLS),
  ]);
});

/** One peer after the other, since the names of the paths are theirs. */
async function each(page, server, steps, calls) {
  const found = {};
  for (const name of Object.keys(peers)) {
    const path = `/${encodeURIComponent(name)}-${calls}`;
    server.script(path, steps);
    const ends = await page.evaluate(call, [name, server.url + path, calls]);
    found[name] = { ends, sent: server.hits(path).length };
  }
  return found;
}

/** In the page. */
async function call([name, url, calls]) {
  const fetch = globalThis.bench.peers[name].make((input, init) => globalThis.fetch(input, init), { wait: 1 });
  const ends = [];
  for (let i = 0; i < calls; i++) {
    ends.push(
      await fetch(url).then(
        (response) => (response.ok ? response.text() : response.status),
        () => "rejected",
      ),
    );
  }
  return ends;
}

test("native fetch does not retry", () => {
  assert.deepEqual(retried.native, { ends: [503], sent: 1 });
});

describe("a peer of the benches", () => {
  for (const [name, { breaker }] of Object.entries(others)) {
    test(`${name} sends again what was answered with 503`, () => {
      assert.deepEqual(retried[name], { ends: ["hello"], sent: 3 });
    });

    test(`${name} ${breaker ? "stops" : "goes on"} sending to a server that is down`, () => {
      const all = CALLS * (1 + RETRIES);
      assert.equal(down[name].ends.length, CALLS);
      if (breaker) assert.ok(down[name].sent < all / 2, `it sent ${down[name].sent}`);
      else assert.equal(down[name].sent, all);
    });
  }
});
