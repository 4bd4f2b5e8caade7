// How often a call is tried again, and how long it waits for that.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { createFetch } from "../pkg/dist/index.js";
import { answer, B0, D0, fed, over, scenario, URL_ } from "./support/cases.mjs";
import { hinted, rejected, resolved, waits } from "./support/cases-shared.mjs";

describe("how often, and how long the waits are", () => {
  scenario("B072 the first wait is the first step of the schedule", async (page) => {
    const told = [];
    page.script(503);
    const seen = page.see(createFetch(D0)(URL_, { onState: waits(told) }));
    await page.to(1_000);
    resolved(seen, 700, 503);
    assert.deepEqual(
      [told, page.times],
      [
        [100, 200, 400],
        [0, 100, 300, 700],
      ],
    );
  });

  scenario("a countdown shows each whole second once", async (page) => {
    const shown = [];
    page.script(503, 200);
    const onState = ({ status, remaining }) => status === "waiting" && shown.push([page.t, remaining]);
    const seen = page.see(createFetch(over(D0, { retry: { delay: 2_500 } }))(URL_, { onState }));
    await page.to(5_000);
    resolved(seen, 2_500, 200);
    assert.deepEqual(shown, [
      [0, 2_500],
      [500, 2_000],
      [1_500, 1_000],
    ]);
  });

  scenario("B081 a Retry-After that is a date", async (page) => {
    page.script(hinted(503, "Tue, 01 Jan 2030 00:00:07 GMT"), 200);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(10_000);
    resolved(seen, 7_000, 200);
    assert.deepEqual(page.times, [0, 7_000]);
  });

  const NONE = ["-3", "+3", "1.5", "1e3", "0x10", "", "NaN", "Infinity", "3, 5", "\u00b2"];
  for (const [value, wait] of [["3 ", 3_000], ["2001", 2_001_000], ...NONE.map((value) => [value, 100])]) {
    scenario(`B084 Retry-After "${value}" means ${wait} ms`, async (page) => {
      page.script(hinted(429, value), 200);
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(4_000_000);
      resolved(seen, wait, 200);
      assert.deepEqual(page.times, [0, wait]);
    });
  }

  scenario("B084 Retry-After of twenty digits is too long, not an overflow", async (page) => {
    page.script(hinted(429, "99999999999999999999"), 200);
    const call = createFetch(D0).start(URL_);
    const seen = page.see(call.response);
    await page.to(10_000);
    resolved(seen, 0, 429);
    assert.equal(call.state.reason, "retry-after-too-long");
  });

  scenario("B085 a date that is none: the backoff applies", async (page) => {
    const bad = () => Promise.resolve(hinted(429, "Wed, 99 Foo 2026"));
    page.script(bad, bad, bad, 200);
    const seen = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    resolved(seen, 700, 200);
    assert.deepEqual(page.times, [0, 100, 300, 700]);
    assert.ok(page.delays.every((ms) => Number.isFinite(ms) && ms >= 0));
  });

  scenario(
    "B087 a server that wants longer than maxRetryAfter ends the call at once, and it is told until when",
    async (page) => {
      page.script(hinted(429, "300"), 200);
      const call = createFetch(over(D0, { retry: { maxRetryAfter: 60_000 } })).start(URL_);
      const seen = page.see(call.response);
      await page.to(1_000_000);
      resolved(seen, 0, 429);
      assert.deepEqual(page.times, [0]);
      assert.deepEqual(
        [call.state.status, call.state.reason, call.state.retryAt],
        ["exhausted", "retry-after-too-long", Date.UTC(2030, 0, 1) + 300_000],
      );
    },
  );

  for (const [value, options, times, status] of [
    ["60", { retry: { maxRetryAfter: 60_000 } }, [0, 60_000], 200],
    ["61", { retry: { maxRetryAfter: 60_000 } }, [0], 429],
    ["6", { totalTimeout: 5_000 }, [0], 429],
  ]) {
    scenario(`B088 Retry-After ${value} with ${JSON.stringify(options)}`, async (page) => {
      page.script(hinted(429, value), 200);
      const seen = page.see(createFetch(over(D0, options))(URL_));
      await page.to(100_000);
      resolved(seen, times.at(-1), status);
      assert.deepEqual(page.times, times);
    });
  }

  for (const status of [408, 425, 429, 500, 503]) {
    scenario(`B089 Retry-After counts on ${status}`, async (page) => {
      page.script(hinted(status, "2"), 200);
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(10_000);
      resolved(seen, 2_000, 200);
    });
  }

  for (const [what, more, wait] of [
    ["its own Date", { Date: "Tue, 01 Jan 2030 00:00:00 GMT" }, 5_000],
    ["no Date: it looks past, and the backoff applies", {}, 100],
    ["a Date and an Age: likewise", { Date: "Tue, 01 Jan 2030 00:00:00 GMT", Age: "3" }, 100],
  ]) {
    scenario(`B091 a date, while our clock is ten minutes ahead, with ${what}`, async (page) => {
      page.wallShift = 600_000;
      page.script(hinted(429, "Tue, 01 Jan 2030 00:00:05 GMT", more), 200);
      const seen = page.see(createFetch(D0)(URL_));
      await page.to(10_000);
      resolved(seen, wait, 200);
    });
  }

  scenario("B097 any number of retries waits for the ceiling", async (page) => {
    const told = [];
    page.script(503);
    const retry = { limit: 1_120, delay: 2_000, backoffLimit: 300_000 };
    const seen = page.see(createFetch(over(D0, { retry }))(URL_, { onState: waits(told), tickInterval: false }));
    await page.to(400_000_000);
    assert.equal(seen.value.status, 503);
    assert.equal(told.length, 1_120);
    assert.deepEqual(told.slice(0, 8), [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]);
    assert.ok(told.slice(8).every((ms) => ms === 300_000));
  });

  for (const factor of [2, 10, 1.0000001, 1e308]) {
    scenario(`B098 factor ${factor} overflows nothing`, async (page) => {
      for (const delay of [0, 1, 2 ** 32 - 1]) {
        const told = [];
        page.script(503);
        const client = createFetch(over(D0, { retry: { limit: 70, delay, factor, backoffLimit: 1_000 } }));
        const seen = page.see(client(URL_, { onState: waits(told), tickInterval: false }));
        await page.to(page.t + 100_000);
        assert.equal(seen.value?.status, 503);
        assert.equal(told.length, 70);
        assert.ok(told.every((ms) => ms >= 0 && ms <= 1_000));
      }
    });
  }

  scenario("B099 a negative number of retries is a RangeError", async (page) => {
    page.script(503);
    for (const limit of [-1, -Infinity]) {
      assert.throws(() => createFetch(over(D0, { retry: { limit } })), RangeError);
      const seen = page.see(createFetch(D0)(URL_, { retry: { limit } }));
      await page.to(page.t);
      assert.ok(seen.error instanceof RangeError);
    }
    assert.deepEqual(page.times, []);
  });

  for (const [retry, times] of [
    [{ limit: 0 }, [0]],
    [{ delay: 0 }, [0, 0, 0, 0]],
    [{ backoffLimit: 0 }, [0, 0, 0, 0]],
  ]) {
    scenario(`B101 zero is no default: ${JSON.stringify(retry)}`, async (page) => {
      page.script(503);
      const seen = page.see(createFetch(over(D0, { retry }))(URL_));
      await page.to(1_000);
      resolved(seen, 0, 503);
      assert.deepEqual(page.times, times);
    });
  }

  scenario("B101 a timeout of zero is a RangeError, and Infinity means none", async () => {
    assert.throws(() => createFetch(over(D0, { timeout: 0 })), RangeError);
    createFetch(over(D0, { timeout: Infinity }));
  });

  const frozen = (object) => {
    for (const value of Object.values(object)) if (typeof value === "object") frozen(value);
    return Object.freeze(object);
  };
  scenario("B104 calls with the same arguments share no count", async (page) => {
    const init = frozen(structuredClone(over(D0, { retry: { limit: 2 } })));
    page.script(503);
    const client = createFetch();
    const url = new URL(URL_);
    const all = [0, 1, 2].map(() => page.see(client(url, init)));
    await page.to(1_000);
    for (const seen of all) resolved(seen, 300, 503);
    assert.equal(page.calls.length, 9);
  });

  for (const [what, value, times] of [
    ["1", 1, [0, 1, 2, 3]],
    ["-5", -5, [0, 0, 0, 0]],
    // The function stands in the place of D0's own delay: the schedule is that of the default one.
    ["undefined", undefined, [0, 250, 750, 1_750]],
    ["a promise", Promise.resolve(7), [0, 7, 14, 21]],
  ]) {
    scenario(`B105 a delay function that gives ${what}`, async (page) => {
      page.script(503);
      const seen = page.see(createFetch(over(D0, { retry: { delay: () => value } }))(URL_));
      await page.to(10_000);
      assert.deepEqual(page.times, times);
      resolved(seen, times[3], 503);
    });
  }

  for (const value of [NaN, Infinity, "x"]) {
    scenario(`B105 a delay function that gives ${value} rejects the call`, async (page) => {
      page.script(503);
      const seen = page.see(createFetch(over(D0, { retry: { delay: () => value } }))(URL_));
      await page.to(1_000);
      assert.ok(seen.error instanceof TypeError);
      assert.match(seen.error.message, /retry\.delay/);
      assert.deepEqual([seen.at, page.times], [0, [0]]);
    });
  }

  scenario("B106 shouldRetry cannot pass the limit, and is not asked about a success", async (page) => {
    let asked = 0;
    const shouldRetry = () => {
      asked++;
      return true;
    };
    const client = createFetch(over(D0, { retry: { shouldRetry } }));
    page.script(503);
    const first = page.see(client(URL_));
    await page.to(1_000);
    resolved(first, 700, 503);
    assert.equal(page.calls.length, 4);
    asked = 0;
    page.script(200);
    assert.equal((await client(URL_)).status, 200);
    assert.deepEqual([asked, page.calls.length], [0, 1]);
  });

  for (const hook of ["shouldRetry", "delay", "beforeRetry"]) {
    for (const use of [1, 2]) {
      for (const how of ["throws", "rejects"]) {
        scenario(`B108 ${hook} ${how} at use ${use}: the call rejects with that value`, async (page) => {
          const error = new Error(hook);
          let uses = 0;
          const act = () => {
            if (++uses < use) return hook === "delay" ? 100 : undefined;
            if (how === "throws") throw error;
            return Promise.reject(error);
          };
          const bodies = [];
          page.script(() => {
            const body = fed();
            bodies.push(body);
            return Promise.resolve(new Response(body.stream, { status: 503 }));
          });
          const client = createFetch(over(B0, { retry: { limit: 3, [hook]: act } }));
          const call = client.start(URL_);
          const seen = page.see(call.response);
          await page.to(2_000);
          // Waits of 100 and 200 ms come before beforeRetry, one of 100 ms before the second use of the others.
          const at = hook === "beforeRetry" ? [100, 300][use - 1] : [0, 100][use - 1];
          rejected(seen, at, error);
          assert.deepEqual([call.state.status, call.state.reason], ["failed", "callback-threw"]);
          assert.equal(page.calls.length, use);
          assert.ok(
            bodies.every((body) => body.cancelled === 1),
            bodies.map((body) => body.cancelled).join(),
          );
        });
      }
    }
  }

  const threw = new Error("hook");
  const act = () => {
    throw threw;
  };
  for (const [hook, options, sent] of [
    ["breaker.key", { breaker: { key: act } }, 0],
    ["breaker.isFailure", { breaker: { isFailure: act } }, 1],
    ["idempotencyKey", { idempotencyKey: act }, 0],
    ["body", { method: "PUT", body: act }, 0],
    ["bodyFactory", { method: "PUT", bodyFactory: act }, 0],
    ["bodyFactory, later", { method: "PUT", bodyFactory: () => Promise.reject(threw) }, 0],
  ]) {
    scenario(`B108 ${hook} throws: the call rejects with that value`, async (page) => {
      page.script(503);
      const client = createFetch(B0);
      const call = client.start(URL_, options);
      const seen = page.see(call.response);
      await page.to(1_000);
      rejected(seen, 0, threw);
      assert.deepEqual([call.state.status, call.state.reason], ["failed", "callback-threw"]);
      assert.equal(page.calls.length, sent);
      page.script(200);
      assert.equal((await client(URL_)).status, 200);
    });
  }

  for (const jitter of ["full", "equal", "decorrelated"]) {
    scenario(`B111 no wait is above the ceiling, with ${jitter} jitter`, async (page) => {
      const told = [];
      page.script(503);
      const client = createFetch(over(D0, { retry: { limit: 6, delay: 400, backoffLimit: 500, jitter } }));
      for (let i = 0; i < 50; i++) page.see(client(URL_, { onState: waits(told), tickInterval: false }));
      await page.to(10_000);
      assert.equal(told.length, 300);
      assert.ok(told.every((ms) => ms >= 0 && ms <= 500));
    });
  }

  scenario("B112 waits are spread at the ceiling as well", async (page) => {
    const told = [];
    page.script(503);
    const client = createFetch(over(D0, { retry: { limit: 1, delay: 2_000, backoffLimit: 1_000, jitter: "full" } }));
    for (let i = 0; i < 1_000; i++) page.see(client(URL_, { onState: waits(told), tickInterval: false }));
    await page.to(10_000);
    assert.equal(told.length, 1_000);
    const mean = told.reduce((sum, ms) => sum + ms, 0) / told.length;
    const deviation = Math.sqrt(told.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / told.length);
    assert.ok(deviation > 200, `${deviation}`);
    const counts = new Map();
    for (const ms of told) counts.set(ms, (counts.get(ms) ?? 0) + 1);
    assert.ok(Math.max(...counts.values()) <= 20);
  });

  scenario("B115 the end is the last outcome, and the causes are told in order", async (page) => {
    const errors = [1, 2, 3, 4].map((n) => new TypeError(`E${n}`));
    const bodies = ["b1", "b2", "b3", "b4"].map((body) => answer(503, { body }));
    page.script(...bodies);
    const first = page.see(createFetch(D0)(URL_));
    await page.to(1_000);
    assert.equal(first.value, bodies[3]);
    assert.equal(await first.value.text(), "b4");
    page.script(...errors);
    const second = page.see(createFetch(D0)(URL_));
    await page.to(2_000);
    rejected(second, 1_700, errors[3]);
    page.script(503, errors[1], 503, errors[3]);
    const call = createFetch(D0).start(URL_);
    const third = page.see(call.response);
    await page.to(3_000);
    rejected(third, 2_700, errors[3]);
    assert.deepEqual(
      call.state.failures.map(({ kind, status, error }) => [kind, status ?? error]),
      [
        ["status", 503],
        ["network", errors[1]],
        ["status", 503],
        ["network", errors[3]],
      ],
    );
  });

  for (const delay of [2 ** 31, 2 ** 32 + 5]) {
    scenario(`B155 a wait of ${delay} ms is neither cut nor wrapped`, async (page) => {
      page.script(503, 200);
      const seen = page.see(createFetch(over(D0, { retry: { delay, backoffLimit: delay } }))(URL_));
      await page.to(delay - 1);
      assert.deepEqual(page.times, [0]);
      await page.to(delay + 1);
      resolved(seen, delay, 200);
      assert.ok(page.delays.every((ms) => ms < 2 ** 31));
    });
  }

  scenario("B156 a delay above the ceiling is cut to it, and a lost connection is retried", async (page) => {
    page.script(new TypeError("closed"), 200);
    const seen = page.see(createFetch(over(D0, { retry: { delay: 1_000, backoffLimit: 30 } }))(URL_));
    await page.to(1_000);
    resolved(seen, 30, 200);
    assert.deepEqual(page.times, [0, 30]);
  });
});
