// What the page around a call does, and what the wasm needs of it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { createFetch } from "../pkg/dist/index.js";
import { after, D0, over, scenario, URL_, wasm } from "./support/cases.mjs";
import { hinted, listeners, resolved } from "./support/cases-shared.mjs";

describe("the page around it", () => {
  const dispatch = (page, type, init) => page.window.dispatchEvent(Object.assign(new Event(type), init));

  scenario(
    "B123 pagehide, beforeunload and pageshow: a wait goes on, and nothing keeps the page from its cache",
    async (page) => {
      page.script(new TypeError("lost"), 200);
      dispatch(page, "beforeunload");
      const first = page.see(createFetch(D0)(URL_));
      await page.to(100);
      resolved(first, 100, 200);
      page.script(503, 200);
      const second = page.see(createFetch(D0)(URL_));
      await page.to(150);
      for (const type of ["unload", "beforeunload"]) assert.equal(listeners(page.window, type), 0);
      dispatch(page, "pagehide", { persisted: true });
      // Frozen: time passes and no timer comes.
      page.t += 10_000;
      dispatch(page, "pageshow", { persisted: true });
      await page.to(page.t);
      resolved(second, 10_150, 200);
      assert.equal(page.calls.length, 2);
    },
  );

  scenario("B123 a request that dies with its page is not announced as a failure", async (page) => {
    const states = [];
    page.script(async () => {
      await page.sleep(10);
      throw new TypeError("the page goes away");
    });
    const call = createFetch(D0).start(URL_, { onState: ({ status }) => states.push(status) });
    page.at(5, () => dispatch(page, "pagehide", { persisted: false }));
    await page.to(20);
    const shown = [...states];
    const timers = page.timers;
    call.cancel();
    assert.ok(!shown.includes("waiting"));
    assert.equal(timers, 0);
  });

  scenario("B141 a browser that is wrong about being offline is found out by a probe", async (page) => {
    page.online = false;
    page.script(200);
    const client = createFetch(over(D0, { onOffline: "wait" }));
    const all = [0, 1, 2].map(() => page.see(client(URL_)));
    await page.to(29_999);
    assert.deepEqual(page.times, []);
    await page.to(60_000);
    for (const seen of all) assert.equal(seen.value?.status, 200);
    assert.ok(page.times[0] <= 30_000);
  });

  scenario("B144 online told three times sends every waiting call once", async (page) => {
    page.online = false;
    page.script(after(50, 200));
    const client = createFetch(D0);
    const all = Array.from({ length: 5 }, (_, i) => page.see(client(`${URL_}${i}`)));
    await page.to(100);
    page.online = true;
    for (const t of [100, 105, 110]) page.at(t, () => dispatch(page, "online"));
    await page.to(5_000);
    assert.ok(all.every((seen) => seen.value?.status === 200));
    assert.equal(page.calls.length, 5);
  });

  scenario("B149 a hidden page goes on retrying", async (page) => {
    page.script(503, 200);
    const seen = page.see(createFetch(D0)(URL_));
    page.at(50, () => {
      page.hidden = true;
      dispatch(page, "visibilitychange");
    });
    await page.to(1_000);
    resolved(seen, 100, 200);
  });

  const offlineFor = (page) => {
    page.at(10, () => {
      page.online = false;
      dispatch(page, "offline");
    });
    page.at(5_000, () => {
      page.online = true;
      dispatch(page, "online");
    });
  };
  scenario("B150 coming back online ends a long backoff", async (page) => {
    const long = over(D0, { retry: { delay: 60_000, backoffLimit: 60_000 } });
    page.script(new TypeError("lost"), 200);
    const seen = page.see(createFetch(long)(URL_));
    offlineFor(page);
    await page.to(10_000);
    resolved(seen, 5_000, 200);
    assert.deepEqual(page.times, [0, 5_000]);
  });

  scenario("B150 coming back online ends no wait that the server asked for", async (page) => {
    page.script(hinted(503, "30"), 200);
    const seen = page.see(createFetch(D0)(URL_));
    offlineFor(page);
    await page.to(60_000);
    assert.equal(seen.value.status, 200);
    assert.ok(page.times[1] >= 30_000, page.times.join());
  });

  test("B155 with all intrinsics frozen it waits and retries", async () => {
    const entry = new URL("../pkg/dist/index.js", import.meta.url);
    const program = `
      import { createFetch } from ${JSON.stringify(entry)};
      let calls = 0;
      const fetch = async () => new Response(null, { status: ++calls > 1 ? 200 : 503 });
      const client = Object.freeze(createFetch({ fetch, retry: { delay: 10, jitter: "none" } }));
      console.log((await client("https://a.test/")).status, calls);
    `;
    const flags = ["--frozen-intrinsics", "--no-warnings", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    assert.equal(stdout.trim(), "200 2");
  });

  scenario("B198 timers and fetch are those of the moment, and called as the platform wants", async (page) => {
    const { setTimeout: before } = globalThis;
    let armed = 0;
    globalThis.setTimeout = function (...args) {
      armed++;
      return before.apply(this, args);
    };
    page.script(503, 200);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    globalThis.setTimeout = before;
    resolved(seen, 100, 200);
    assert.ok(armed > 0);
  });

  // Of three of these there is nothing to tell where tests/without-wasm.test.mjs runs this file.
  const inWasm = globalThis.WebAssembly ? scenario : () => {};

  inWasm("B201 the wasm has no call of a clock that it lacks", async () => {
    await createFetch(D0).ready();
    const text = Buffer.from(wasm.bytes).toString("latin1");
    assert.ok(text.length > 10_000);
    assert.ok(!/time not implemented/.test(text));
  });

  scenario(
    "B202 without performance.now the wall clock is used, and a jump back makes no wait shorter",
    async (page) => {
      const { performance: before } = globalThis;
      Object.defineProperty(globalThis, "performance", { configurable: true, writable: true, value: undefined });
      try {
        page.script(503, 200);
        const seen = page.see(createFetch(D0)(URL_));
        page.at(50, () => {
          page.wallShift = -3_600_000;
        });
        await page.to(10_000_000);
        assert.equal(seen.value?.status, 200);
        assert.ok(page.times[1] >= 100);
      } finally {
        Object.defineProperty(globalThis, "performance", { configurable: true, writable: true, value: before });
      }
    },
  );

  scenario("B202 a monotonic clock that runs back by 5 ms traps nothing", async (page) => {
    page.script(503);
    const call = createFetch(D0).start(URL_);
    const seen = page.see(call.response);
    for (let t = 10; t < 700; t += 20) {
      page.at(t, () => {
        page.monoShift = page.monoShift ? 0 : -5;
      });
    }
    await page.to(5_000);
    assert.equal(seen.value.status, 503);
    assert.ok(
      page.times.every((t, i) => i === 0 || t - page.times[i - 1] >= 100 * 2 ** (i - 1)),
      page.times.join(),
    );
    assert.ok(call.state.failures.every(({ duration }) => duration >= 0));
  });

  inWasm("B204 what a call holds is freed when it settles, without any finalizer", async (page) => {
    const client = createFetch(D0);
    page.script(200);
    const run = async (times) => {
      for (let i = 0; i < times; i++) await client(URL_);
      page.calls = [];
    };
    await run(500);
    const before = wasm.memory.buffer.byteLength;
    await run(1_000);
    assert.equal(wasm.memory.buffer.byteLength, before);
  });

  inWasm("B204 dispose() frees a client at once", async () => {
    const run = (times) => {
      for (let i = 0; i < times; i++) {
        const client = createFetch(D0);
        client.ready();
        client.dispose();
      }
    };
    run(100);
    const before = wasm.memory.buffer.byteLength;
    run(1_000);
    const grown = wasm.memory.buffer.byteLength - before;
    assert.ok(grown <= 65_536, `${grown} bytes for 1,000 clients`);
  });
});
