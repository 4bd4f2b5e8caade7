import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { createFetch } from "steadfetch";
import { callTrace, script, virtualClock } from "steadfetch/testing";

const URL_ = "https://api.test/report";
const CALM = { retry: { delay: 2_500, jitter: "none" } };

/** What a countdown on the page would show. */
function countdown(call) {
  const shown = [];
  call.subscribe((state) => state.status === "waiting" && shown.push(state.remaining));
  return shown;
}

describe("with the virtual clock", () => {
  test("a call goes on as the clock does, and its trace is a snapshot", async () => {
    const clock = virtualClock();
    try {
      const server = script([503, { status: 429, retryAfter: 4 }, { body: "hello" }]);
      const call = createFetch({ fetch: server, ...CALM }).start(URL_);
      const trace = callTrace(call);
      const shown = countdown(call);

      await clock.advance(2_000);
      expect(shown).toEqual([2_500, 2_000, 1_000]);
      await clock.advance(10_000);

      expect(trace.text).toMatchInlineSnapshot(`"loading > waiting 2500 > loading > waiting 5000 > loading > success"`);
      expect(trace).toEqual([
        { status: "loading", attempt: 1, at: 0 },
        { status: "waiting", attempt: 1, at: 0, delay: 2_500, source: "backoff", cause: "503" },
        { status: "loading", attempt: 2, at: 2_500 },
        { status: "waiting", attempt: 2, at: 2_500, delay: 5_000, source: "backoff", cause: "429" },
        { status: "loading", attempt: 3, at: 7_500 },
        { status: "success", attempt: 3, at: 7_500, cause: "200" },
      ]);
      expect(await (await call).text()).toBe("hello");
      expect(server.requests).toHaveLength(3);
    } finally {
      clock.restore();
    }
  });

  test("in the place of globalThis.fetch", async () => {
    const real = globalThis.fetch;
    globalThis.fetch = script([{ status: 201, headers: { "X-From": "script" } }]);
    const response = await createFetch()(URL_);
    globalThis.fetch = real;
    expect([response.status, response.url, response.headers.get("X-From")]).toEqual([201, URL_, "script"]);
  });
});

describe("with the fake timers of Jest", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test("the client waits, and counts down", async () => {
    jest.useFakeTimers();
    const server = script([503, "drop", 200]);
    const call = createFetch({ fetch: server, ...CALM }).start(URL_);
    const trace = callTrace(call);
    const shown = countdown(call);

    await jest.advanceTimersByTimeAsync(2_499);
    expect(shown).toEqual([2_500, 2_000, 1_000]);
    expect(server.requests).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(server.requests).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(5_000);

    expect(trace.text).toBe("loading > waiting 2500 > loading > waiting 5000 > loading > success");
    expect(trace.map(({ at }) => at)).toEqual([0, 0, 2_500, 2_500, 7_500, 7_500]);
    expect((await call).status).toBe(200);
  });

  test("the store of a client tells, and a limit ends what stalls", async () => {
    jest.useFakeTimers();
    const fetch = createFetch({ fetch: script(["stall"]), timeout: 4_000, retry: false });
    const loading = [];
    fetch.subscribe((snapshot) => loading.push(snapshot.loading));
    const trace = callTrace(fetch.start(URL_));

    await jest.advanceTimersByTimeAsync(3_999);
    expect(trace.text).toBe("loading");
    await jest.advanceTimersByTimeAsync(1);
    expect(trace.text).toBe("loading > exhausted limit");
    await jest.advanceTimersByTimeAsync(0);
    expect(loading).toEqual([0, 1, 0]);
  });

  test("they and the virtual clock refuse each other", () => {
    jest.useFakeTimers();
    expect(() => virtualClock()).toThrow("not both");
    jest.useRealTimers();

    const clock = virtualClock();
    expect(() => jest.useFakeTimers()).toThrow();
    clock.restore();
  });
});
