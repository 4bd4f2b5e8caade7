import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { routeScript, script } from "steadfetch/testing";
import { launch } from "../../support/browser.mjs";
import { open } from "./app.mjs";

const browser = await launch();

describe("page.route() with a script", () => {
  test("answers the page, and keeps what it sent", async () => {
    const server = script([503, "drop", { status: 429, retryAfter: 0 }, { status: 201, body: "hello" }]);
    const page = await open(browser, { prepare: (page) => page.route("**/report", routeScript(server)) });
    const told = await page.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      const { callTrace } = await import("steadfetch/testing");
      const client = createFetch({ retry: { delay: 10, jitter: "none" }, idempotencyKey: "auto" });
      const call = client.start("/report", { method: "POST", body: "a" });
      const trace = callTrace(call);
      const response = await call;
      return { text: await response.text(), status: response.status, trace: trace.text };
    });
    await page.close();

    assert.equal(told.text, "hello");
    assert.equal(told.status, 201);
    assert.match(
      told.trace,
      /^loading > waiting 10 > loading > waiting 20 > loading > waiting \d+ > loading > success$/,
    );
    assert.equal(server.requests.length, 4);
    assert.equal(new Set(server.requests.map(({ headers }) => headers.get("Idempotency-Key"))).size, 1);
    assert.deepEqual(await Promise.all(server.requests.map((request) => request.text())), ["a", "a", "a", "a"]);
  });

  test("leaves a request open that stalls, until the page gives it up", async () => {
    const server = script(["stall"]);
    const page = await open(browser, { prepare: (page) => page.route("**/report", routeScript(server)) });
    const trace = await page.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      const { callTrace } = await import("steadfetch/testing");
      const call = createFetch({ retry: false, timeout: 200 }).start("/report");
      const trace = callTrace(call);
      await call.response.catch(() => {});
      return trace;
    });
    await page.close();
    assert.deepEqual(
      trace.map(({ status, cause }) => [status, cause]),
      [
        ["loading", undefined],
        ["exhausted", "timeout"],
      ],
    );
  });
});

describe("in the page itself", () => {
  test("script, virtual clock and trace, by the import map", async () => {
    const page = await open(browser);
    const told = await page.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      const { callTrace, script, virtualClock } = await import("steadfetch/testing");
      const clock = virtualClock();
      const server = script([503, { status: 200, body: "hello" }]);
      const call = createFetch({ fetch: server, retry: { delay: 2_500, jitter: "none" } }).start("/report");
      const trace = callTrace(call);
      const shown = [];
      call.subscribe((state) => state.status === "waiting" && shown.push(state.remaining));
      const timer = typeof setTimeout(() => {}, 1_000);
      await clock.advance(60_000);
      const text = await (await call).text();
      clock.restore();
      return { trace, shown, text, timer, left: clock.timers, own: Object.hasOwn(performance, "now") };
    });
    await page.close();

    assert.deepEqual(told.trace, [
      { status: "loading", attempt: 1, at: 0 },
      { status: "waiting", attempt: 1, at: 0, delay: 2_500, source: "backoff", cause: "503" },
      { status: "loading", attempt: 2, at: 2_500 },
      { status: "success", attempt: 2, at: 2_500, cause: "200" },
    ]);
    assert.deepEqual(told.shown, [2_500, 2_000, 1_000]);
    assert.deepEqual([told.text, told.timer, told.left, told.own], ["hello", "number", 0, false]);
  });

  test("a scripted fetch that is there before the page's own scripts, by addInitScript()", async () => {
    const page = await open(browser, {
      prepare: (page) =>
        page.addInitScript(() => {
          const server = import("/dist/testing.js").then(({ script }) => script([503, { body: "from the script" }]));
          globalThis.fetch = async (...request) => (await server)(...request);
        }),
      body: `<p></p><script type="module">
        import { createFetch } from "steadfetch";
        const response = await createFetch({ retry: { delay: 10 } })("/report");
        document.querySelector("p").textContent = await response.text();
      </script>`,
    });
    await page.locator("p", { hasText: "from the script" }).waitFor();
    await page.close();
  });
});

test("page.clock, the fake timers of Playwright, drive the client and its countdown", async () => {
  const server = script([503, { body: "hello" }]);
  const page = await open(browser, {
    prepare: async (page) => {
      await page.clock.install({ time: 0 });
      await page.route("**/report", routeScript(server));
    },
  });
  await page.clock.pauseAt(10_000);
  await page.evaluate(async () => {
    const { createFetch } = await import("steadfetch");
    window.call = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } }).start("/report");
    window.shown = [];
    window.waits = new Promise((resolve) => {
      window.call.subscribe((state) => {
        if (state.status !== "waiting") return;
        window.shown.push(state.remaining);
        resolve();
      });
    });
    await window.waits;
  });
  await page.clock.runFor(3_500);
  assert.deepEqual(await page.evaluate(() => window.shown), [60_000, 59_000, 58_000, 57_000]);
  assert.equal(server.requests.length, 1);
  await page.clock.runFor(60_000);
  assert.equal(await page.evaluate(async () => (await window.call).text()), "hello");
  assert.equal(server.requests.length, 2);
  await page.close();
});
