// The trace of a call, with the scripted server and the virtual clock.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { createFetch } from "steadfetch";
import { callTrace, script, virtualClock } from "steadfetch/testing";

const URL_ = "https://api.test/report";
const CALM = { retry: { limit: 1, delay: 2_500, jitter: "none" } };

describe("callTrace()", () => {
  let clock;
  beforeEach(() => {
    clock = virtualClock();
  });
  afterEach(() => clock.restore());

  /** The trace of a call that has a minute. */
  async function traced(steps, options) {
    const call = createFetch({ fetch: script(steps), ...CALM, ...options }).start(URL_);
    const trace = callTrace(call);
    await clock.advance(60_000);
    return { call, trace };
  }

  test("is a plain list, without ticks", async () => {
    const { trace } = await traced([503, 200]);
    const expected = [
      { status: "loading", attempt: 1, at: 0 },
      { status: "waiting", attempt: 1, at: 0, delay: 2_500, source: "backoff", cause: "503" },
      { status: "loading", attempt: 2, at: 2_500 },
      { status: "success", attempt: 2, at: 2_500, cause: "200" },
    ];
    assert.deepEqual(trace, expected);
    assert.deepEqual(JSON.parse(JSON.stringify(trace)), expected);
    assert.deepEqual(structuredClone(trace), expected);
    assert.equal(trace.text, "loading > waiting 2500 > loading > success");
  });

  test("says what a call waited for", async () => {
    const limits = { timeout: 1_000, retry: { limit: 3, delay: 100, jitter: "none" } };
    const { trace } = await traced(["drop", "stall", { status: 429, retryAfter: 2 }, 200], limits);
    assert.deepEqual(
      trace.filter(({ status }) => status === "waiting").map(({ source, cause, at }) => [source, cause, at]),
      [
        ["backoff", "network", 0],
        ["backoff", "timeout", 1_100],
        ["retry-after", "429", 1_300],
      ],
    );
  });

  test("says how a call ended", async () => {
    const ends = [
      [["drop"], {}],
      [[503], {}],
      [[404], {}],
      [["stall"], { timeout: 1_000, retry: false }],
      [[503], { onExhausted: "hold" }],
      [[503], { breaker: { consecutiveFailures: 1 }, budget: false }],
      [[503], { retry: { shouldRetry: () => { throw new RangeError("no") } } }], // biome-ignore format: one a line
    ];
    const told = [];
    for (const [steps, options] of ends) {
      const { call, trace } = await traced(steps, options);
      const { at, attempt, ...end } = trace.at(-1);
      told.push(end);
      call.cancel();
    }
    assert.deepEqual(told, [
      { status: "exhausted", reason: "limit", cause: "network" },
      { status: "exhausted", reason: "limit", cause: "503" },
      { status: "failed", reason: "status", cause: "404" },
      { status: "exhausted", reason: "limit", cause: "timeout" },
      { status: "exhausted", reason: "limit", cause: "503", held: true },
      { status: "circuit-open", circuit: "https://api.test", probeInFlight: false, settled: true },
      { status: "failed", reason: "callback-threw", cause: "RangeError" },
    ]);
  });

  test("goes on with the next run, until it is stopped", async () => {
    const { call, trace } = await traced([404, 200, 404]);
    void call.retry();
    await clock.advance(0);
    assert.equal(trace.text, "loading > failed status > loading > success");
    assert.deepEqual(trace.at(-1), { status: "success", attempt: 1, at: 60_000, run: 2, cause: "200" });
    trace.stop();
    await call.retry();
    assert.equal(trace.length, 4);
  });

  test("tells a cancel by its reason", async () => {
    const { call, trace } = await traced(["stall"], { timeout: false });
    call.cancel();
    assert.equal(trace.text, "loading > cancelled");
    assert.equal(trace.at(-1).cause, "AbortError");
  });

  test("waits at a circuit, and tells the probe", async () => {
    const options = {
      breaker: { consecutiveFailures: 1, halfOpenAfter: 5_000 },
      onCircuitOpen: "wait",
      budget: false,
      retry: { limit: 3, delay: 100, jitter: "none" },
    };
    const { trace } = await traced([503, 200], options);
    assert.match(trace.text, /^loading > .*circuit-open > .*loading > success$/);
    assert.equal(trace.find(({ status, attempt }) => status === "loading" && attempt === 2).probe, true);
  });

  test("is of a call, and not of its promise", () => {
    for (const none of [undefined, Promise.resolve(), createFetch()]) {
      assert.throws(() => callTrace(none), { name: "TypeError", message: /start/ });
    }
  });
});

test("leaves nothing behind: no timer is set when the call is over", async () => {
  const clock = virtualClock();
  try {
    const call = createFetch({ fetch: script([503, 200]), ...CALM, breaker: false }).start(URL_);
    callTrace(call);
    await clock.advance(5_000);
    assert.equal(call.state.status, "success");
    assert.equal(clock.timers, 0);
  } finally {
    clock.restore();
  }
});
