// Time limits of an attempt and of the whole call.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { createFetch } from "../pkg/dist/index.js";
import { after, answer, D0, fed, over, scenario, URL_ } from "./support/cases.mjs";
import { hinted, rejected, resolved, timedOut } from "./support/cases-shared.mjs";

describe("what a limit leaves", () => {
  scenario("an attempt that the total timeout ends is among the failures", async (page) => {
    page.script(503, "pend");
    const call = createFetch(over(D0, { totalTimeout: 500 })).start(URL_);
    const seen = page.see(call.response);
    await page.to(1_000);
    assert.deepEqual([seen.at, seen.error?.scope], [500, "total"]);
    const failures = call.state.failures.map(({ kind, status, error, duration }) => [
      kind,
      status ?? error?.scope,
      duration,
    ]);
    assert.deepEqual(failures, [
      ["status", 503, 0],
      ["timeout", "total", 400],
    ]);
  });
});

describe("time limits", () => {
  scenario('B015 a body that stalls rejects with our TimeoutError, with covers: "body"', async (page) => {
    let reason;
    page.script((request) => {
      const body = fed(request.signal);
      request.signal.addEventListener("abort", () => {
        reason = request.signal.reason;
      });
      return page.sleep(100).then(() => new Response(body.stream));
    });
    const seen = page.see(createFetch(over(D0, { timeout: 1_000, covers: "body", retry: { limit: 0 } }))(URL_));
    await page.to(5_000);
    timedOut(seen, 1_000, "attempt");
    assert.equal(seen.error, reason);
  });

  scenario("B016 our own timer makes it a timeout, whatever fetch rejects with", async (page) => {
    page.script(
      (request) =>
        new Promise((_, reject) =>
          request.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        ),
    );
    const seen = page.see(createFetch(over(D0, { timeout: 100, retry: { limit: 1 } }))(URL_));
    await page.to(1_000);
    timedOut(seen, 300, "attempt");
    assert.deepEqual(page.times, [0, 200]);
  });

  const dripping = (page) => (request) => {
    const body = fed(request.signal);
    let on = true;
    request.signal.addEventListener("abort", () => {
      on = false;
    });
    const drip = () => {
      if (!on || page.t > 6_000) return;
      body.push("x");
      page.at(page.t + 400, drip);
    };
    return page.sleep(500).then(() => {
      drip();
      return new Response(body.stream);
    });
  };

  scenario('B058 the attempt timer ends a body that drips, with covers: "body"', async (page) => {
    page.script(dripping(page));
    const seen = page.see(createFetch(over(D0, { timeout: 800, covers: "body", retry: { limit: 0 } }))(URL_));
    await page.to(5_000);
    timedOut(seen, 800, "attempt");
    assert.deepEqual(page.times, [0]);
  });

  scenario('B058 with covers: "headers", the default, a body may drip', async (page) => {
    page.script(dripping(page));
    const response = page.see(createFetch(over(D0, { timeout: 800 }))(URL_));
    await page.to(500);
    resolved(response, 500, 200);
    const read = page.see(response.value.text());
    await page.to(5_000);
    assert.equal(read.at, undefined);
    assert.deepEqual(page.times, [0]);
    await response.value.body?.cancel?.().catch(() => {});
  });

  scenario("B059 a body that breaks after the headers rejects its reader and is not asked for again", async (page) => {
    const broken = new TypeError("broken");
    const body = fed();
    page.script(() => page.sleep(10).then(() => new Response(body.stream)));
    page.at(100, () => body.fail(broken));
    const read = page.see(createFetch(over(D0, { totalTimeout: 3_000 }))(URL_).then((response) => response.text()));
    await page.to(5_000);
    rejected(read, 100, broken);
    assert.deepEqual(page.times, [0]);
  });

  scenario('B059 a body that stalls ends with the total limit, with covers: "body"', async (page) => {
    page.script((request) => page.sleep(10).then(() => new Response(fed(request.signal).stream)));
    const seen = page.see(createFetch(over(D0, { totalTimeout: 3_000, covers: "body" }))(URL_));
    await page.to(5_000);
    timedOut(seen, 3_000, "total");
    assert.deepEqual(page.times, [0]);
  });

  for (const [what, step] of [
    ["an answer", 503],
    ["an error", new TypeError("lost")],
  ]) {
    scenario(`B073 the total limit counts attempts and waits: ${what}`, async (page) => {
      page.script(after(400, step));
      const call = createFetch(over(D0, { totalTimeout: 1_000 })).start(URL_);
      const seen = page.see(call.response);
      await page.to(3_000);
      assert.deepEqual(page.times, [0, 500]);
      assert.deepEqual([call.state.status, call.state.reason], ["exhausted", "total-timeout"]);
      if (step === 503) resolved(seen, 900, 503);
      else rejected(seen, 900, step);
    });
  }

  scenario("B074 the total limit ends a running attempt", async (page) => {
    let aborted;
    page.script((request) => {
      request.signal.addEventListener("abort", () => {
        aborted = page.t;
      });
      return new Promise((resolve, reject) => {
        page.at(1_500, () => resolve(answer(200)));
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    });
    const seen = page.see(createFetch(over(D0, { totalTimeout: 500 }))(URL_));
    await page.to(2_000);
    timedOut(seen, 500, "total");
    assert.equal(aborted, 500);
  });

  scenario("B075 an attempt may begin while any time is left, and ends with the total limit", async (page) => {
    const waits = [400, 450];
    page.script(503, 503, "pend");
    const seen = page.see(createFetch(over(D0, { totalTimeout: 1_000, retry: { delay: () => waits.shift() } }))(URL_));
    await page.to(3_000);
    assert.deepEqual(page.times, [0, 400, 850]);
    timedOut(seen, 1_000, "total");
  });

  for (const [retryOnTimeout, attempts] of [
    [false, 1],
    [true, 4],
  ]) {
    scenario(
      `B076 retryOnTimeout: ${retryOnTimeout} means ${attempts} attempts, whatever the statuses`,
      async (page) => {
        page.script("pend");
        const retry = { statusCodes: [503], retryOnTimeout };
        const seen = page.see(createFetch(over(D0, { timeout: 100, retry }))(URL_));
        await page.to(5_000);
        assert.equal(page.calls.length, attempts);
        timedOut(seen, attempts === 1 ? 100 : 1_100, "attempt");
      },
    );
  }

  scenario("B077 an attempt that timed out is retried", async (page) => {
    page.script("pend", 200);
    const seen = page.see(createFetch(over(D0, { timeout: 100, retry: { limit: 1 } }))(URL_));
    await page.to(1_000);
    resolved(seen, 200, 200);
    assert.deepEqual(page.times, [0, 200]);
  });

  scenario("B114 timers that come late make no wait shorter and no attempt later than the limit", async (page) => {
    page.stretch = (ms) => Math.ceil((page.t + ms) / 1_000) * 1_000 - page.t;
    page.script(503);
    const client = createFetch(over(D0, { timeout: 1_500, totalTimeout: 2_500 }));
    const seen = page.see(client(URL_));
    await page.to(10_000);
    assert.ok(
      page.times.every((t) => t < 2_500),
      page.times.join(),
    );
    assert.ok(page.times.every((t, i) => i === 0 || t - page.times[i - 1] >= 100 * 2 ** (i - 1)));
    assert.notEqual(seen.at, undefined);
  });

  for (const event of ["visibilitychange", "pageshow", "resume"]) {
    scenario(`B114 a machine that slept through a wait goes on at once, at ${event}`, async (page) => {
      page.script(hinted(503, "60"), 200);
      const seen = page.see(createFetch(D0)(URL_));
      // Monotonic clocks and timers stand still meanwhile.
      page.at(10, () => {
        page.wallShift = 3_600_000;
      });
      page.at(20, () => globalThis.dispatchEvent(new Event(event)));
      await page.to(100_000);
      resolved(seen, 20, 200);
      assert.equal(page.calls.length, 2);
    });
  }

  for (const shift of [-3_600_000, 2_000]) {
    scenario(`B114 a wall clock that is set by ${shift} ms lengthens no wait`, async (page) => {
      page.script(503, 200);
      const seen = page.see(createFetch(over(D0, { retry: { delay: 5_000 } }))(URL_));
      page.at(50, () => {
        page.wallShift = shift;
        globalThis.dispatchEvent(new Event("visibilitychange"));
      });
      await page.to(100_000);
      assert.equal(seen.value?.status, 200);
      assert.ok(seen.at <= 5_000, `${seen.at}`);
    });
  }
});
