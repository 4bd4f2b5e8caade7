// The packed package, installed in an empty project, in pages against a real server.

import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { cutsNetwork, except, INSECURE_HOST, launch } from "./support/browser.mjs";
import { subjects } from "./support/facts/index.mjs";
import { blank, browserEntry, packageFiles } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";
import { actInPage } from "./support/toolkit.mjs";

const PATIENCE = { timeout: 20_000 };
const HTML = { "Content-Type": "text/html" };
const SCRIPT = { "Content-Type": "text/javascript" };

let files;
let context;
let page;
let server;
/** What went wrong in the page unseen by the test: exceptions, unhandled rejections. */
let faults;

before(async () => {
  const entry = `/steadfetch/${await browserEntry()}`;
  const oneCall = `
    import { createFetch } from "${entry}";
    globalThis.outcome = createFetch()("/x").then((response) => ({ status: response.status }), (error) => ({ isError: error instanceof Error, message: error.message }));
  `;
  files = await packageFiles({
    "/one-call.js": { headers: SCRIPT, body: oneCall },
    "/one-call": { headers: HTML, body: blank('<script type="module" src="/one-call.js"></script>') },
    "/worker.js": { headers: SCRIPT, body: `${oneCall} globalThis.outcome.then(postMessage);` },
  });
  context = await (await launch()).newContext();
  page = await context.newPage();
  page.on("pageerror", (error) => faults.push(error));
});

// The server's origin is new for each test, and with it the page's realm and its connections.
beforeEach(async () => {
  server = await startServer({ cors: true, files });
  await page.goto(server.url);
  faults = [];
});
afterEach(() => server.close());

/** Runs `act` in the page, with the toolkit over the package. */
const inPage = (act, input) => actInPage(page, server, act, input);

for (const [subject, facts] of Object.entries(subjects)) {
  describe(subject, () => {
    for (const { name, only, steps, act, input, check, except: reasons } of facts) {
      if (only === "node") continue;
      test(name, { ...PATIENCE, ...except(reasons) }, async () => {
        for (const [path, script] of Object.entries(steps)) server.script(path, script);
        check?.(await inPage(act, input), server);
        assert.deepEqual(faults, []);
      });
    }
  });
}

describe("the package in a page", () => {
  test("works by its plain URL, with no configuration and no init", async () => {
    server.script("/x", [{ status: 503, retryAfter: 0 }, 200]);
    await page.goto(`${server.url}/one-call`);
    assert.deepEqual(await page.evaluate(() => globalThis.outcome), { status: 200 });
  });

  test("works in a worker", async () => {
    server.script("/x", 200);
    const outcome = await page.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker("/worker.js", { type: "module" });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = reject;
        }),
    );
    assert.deepEqual(outcome, { status: 200 });
  });

  test("makes keys outside of secure contexts too", async () => {
    server.script("/x", 200);
    await page.goto(server.url.replace("127.0.0.1", INSECURE_HOST));
    const secure = await page.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      await createFetch({ idempotencyKey: "auto" })("/x", { method: "POST", body: "b" });
      return globalThis.isSecureContext;
    });
    assert.equal(secure, false);
    assert.match(
      server.hits("/x")[0].headers["idempotency-key"],
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test("reports what a listener throws, and goes on", async () => {
    server.script("/x", [503, 200]);
    const value = await inPage(async ({ createFetch, url, quick, sleep }) => {
      const reported = [];
      addEventListener("error", (event) => {
        event.preventDefault();
        reported.push(event.error?.message);
      });
      const call = createFetch({ retry: quick }).start(`${url}/x`);
      const seen = [];
      call.subscribe(() => {
        throw new Error("of the listener");
      });
      call.subscribe((state) => seen.push(state.status));
      const { status } = await call;
      await sleep(20);
      return { status, last: seen.at(-1), reported: [...new Set(reported)] };
    });
    assert.deepEqual(value, { status: 200, last: "success", reported: ["of the listener"] });
  });
});

describe("without a network", () => {
  afterEach(() => context.setOffline(false));

  const start = (input) =>
    inPage(({ createFetch, url, quick }, options) => {
      globalThis.call = createFetch({ retry: quick, ...options }).start(`${url}/x`);
    }, input);
  const status = () => page.evaluate(() => globalThis.call.state.status);
  const settled = () =>
    page.evaluate(async () => [
      (await globalThis.call).status,
      globalThis.call.state.attempt,
      globalThis.call.state.failures.length,
    ]);

  test("a call is offline, costs no attempt, and goes on by itself", async () => {
    server.script("/x", 200);
    await inPage(({ createFetch }) => createFetch().ready());
    await context.setOffline(true);
    await start();
    await until(async () => (await status()) === "offline");
    assert.equal(server.hits("/x").length, 0);
    await context.setOffline(false);
    assert.deepEqual(await settled(), [200, 1, 0]);
  });

  test("a wait becomes offline and goes on once the network is back", async () => {
    server.script("/x", [503, 200]);
    await start({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } });
    await until(async () => (await status()) === "waiting");
    await context.setOffline(true);
    await until(async () => (await status()) === "offline");
    await context.setOffline(false);
    assert.deepEqual(await settled(), [200, 2, 1]);
  });

  test("an early return of the network does not undercut a Retry-After", async () => {
    server.script("/x", [{ status: 503, retryAfter: 2 }, 200]);
    await start();
    await until(async () => (await status()) === "waiting");
    await context.setOffline(true);
    await until(async () => (await status()) === "offline");
    await context.setOffline(false);
    assert.deepEqual(await settled(), [200, 2, 1]);
    const [first, second] = server.hits("/x");
    assert.ok(second.at - first.answeredAt >= 1_999, `${second.at - first.answeredAt} ms`);
  });

  test('onOffline: "reject" rejects with an OfflineError', async () => {
    await inPage(({ createFetch }) => createFetch().ready());
    await context.setOffline(true);
    const value = await inPage(async ({ createFetch, url, thrown, OfflineError, isOfflineError }) => {
      const error = await thrown(createFetch({ onOffline: "reject" })(`${url}/x`));
      return [error instanceof OfflineError && error instanceof Error, isOfflineError(error)];
    });
    assert.deepEqual(value, [true, true]);
    assert.equal(server.hits("/x").length, 0);
  });

  test("failures while offline do not open the circuit (B178)", async () => {
    server.script("/x", [...(cutsNetwork ? [] : Array(7).fill("refuse")), 200]);
    await inPage(({ createFetch }) => {
      globalThis.client = createFetch({ onOffline: "ignore", retry: false });
      return globalThis.client.ready();
    });
    await context.setOffline(true);
    const failed = await inPage(async ({ url, thrown, told }) => {
      const errors = [];
      for (let i = 0; i < 7; i++) errors.push(told(await thrown(globalThis.client(`${url}/x`))).isTypeError);
      return errors;
    });
    await context.setOffline(false);
    assert.deepEqual(failed, Array(7).fill(true));
    assert.equal(await inPage(async ({ url }) => (await globalThis.client(`${url}/x`)).status), 200);
  });
});
