// The misbehaving server, seen by the platforms' own fetch: what the other tests blame on the package is real.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { launch } from "./support/browser.mjs";
import { blank } from "./support/packed.mjs";
import { HUGE, NO_STORE, startServer, until } from "./support/server.mjs";

let server;

beforeEach(async () => {
  server = await startServer({ files: blankPage });
});
afterEach(() => server.close());

function blankPage(request, response) {
  if (request.url !== "/") return false;
  response.writeHead(200, { "Content-Type": "text/html", Connection: "close" }).end(blank());
  return true;
}

const get = (path, init) => fetch(server.url + path, init);

describe("Node's fetch", () => {
  test("steps are consumed one per request and the last one repeats", async () => {
    server.script("/x", [503, { status: 201, headers: { "X-Extra": "1" }, body: "made" }]);
    assert.equal((await get("/x")).status, 503);
    for (let i = 0; i < 2; i++) {
      const response = await get("/x");
      assert.deepEqual([response.status, response.headers.get("x-extra"), await response.text()], [201, "1", "made"]);
    }
    assert.equal(server.hits("/x").length, 3);
  });

  test("a hit tells method, headers, body and when it came", async () => {
    server.script("/x", 200);
    await get("/x", { method: "POST", headers: { "X-Extra": "1" }, body: "what was sent" });
    const [hit] = server.hits("/x");
    assert.deepEqual([hit.method, hit.headers["x-extra"], hit.text], ["POST", "1", "what was sent"]);
    assert.ok(hit.at > 0 && hit.answeredAt >= hit.at);
    assert.equal(hit.aborted, false);
  });

  test("an unscripted path is 404", async () => {
    assert.equal((await get("/nowhere")).status, 404);
  });

  test("Retry-After in seconds", async () => {
    server.script("/x", { status: 429, retryAfter: 2 });
    const response = await get("/x");
    assert.deepEqual([response.status, response.headers.get("retry-after")], [429, "2"]);
  });

  test("Retry-After as a date lies that far ahead of the server's clock, which may be wrong", async () => {
    server.script("/x", { status: 503, retryAfter: "date:+2", skew: 3600 });
    const { headers } = await get("/x");
    assert.match(headers.get("retry-after"), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    assert.equal(Date.parse(headers.get("retry-after")) - Date.parse(headers.get("date")), 2_000);
    assert.ok(Math.abs(Date.parse(headers.get("date")) - Date.now() - 3_600_000) < 60_000);
    assert.equal(server.hits("/x")[0].told, Date.parse(headers.get("retry-after")) - 3_600_000);
  });

  for (const step of ["refuse", "hang-up", "reset-headers"]) {
    test(`${step}: no answer arrives`, async () => {
      server.script("/x", step);
      await assert.rejects(get("/x"), { name: "TypeError", message: "fetch failed" });
      assert.equal(server.hits("/x").length, 1);
      assert.equal(server.hits("/x")[0].aborted, false);
    });
  }

  for (const step of ["reset-body", "cut-body"]) {
    test(`${step}: the headers arrive, the body breaks`, async () => {
      server.script("/x", step);
      const response = await get("/x");
      assert.equal(response.status, 200);
      const reader = response.body.getReader();
      assert.ok((await reader.read()).value.length > 0);
      await assert.rejects(reader.read(), { name: "TypeError", message: "terminated" });
    });
  }

  test("stall: nothing arrives, and the server sees the client give up", async () => {
    server.script("/x", "stall");
    const controller = new AbortController();
    const answer = get("/x", { signal: controller.signal });
    await until(() => server.hits("/x").length);
    controller.abort("enough");
    await assert.rejects(answer, (error) => error === "enough");
    await until(() => server.hits("/x")[0].aborted);
  });

  test("stall-body: the headers arrive, the body never ends, and the server sees the client give up", async () => {
    server.script("/x", "stall-body");
    const controller = new AbortController();
    const response = await get("/x", { signal: controller.signal });
    assert.equal(response.status, 200);
    setTimeout(() => controller.abort("enough"), 100);
    await assert.rejects(response.text(), (error) => error === "enough");
    await until(() => server.hits("/x")[0].aborted);
  });

  test("close: announced", async () => {
    server.script("/x", "close");
    const response = await get("/x");
    assert.equal(response.headers.get("connection"), "close");
    await response.text();
    await until(() => server.openSockets() === 0);
  });

  test("keepAliveClose: unannounced", async () => {
    server.script("/x", { keepAliveClose: true });
    const response = await get("/x");
    assert.equal(response.headers.get("connection"), "keep-alive");
    await response.text();
    await until(() => server.openSockets() === 0);
  });

  test("keepAliveClose next: the next request on that connection is lost", async () => {
    server.script("/x", [{ keepAliveClose: "next" }, 200]);
    await (await get("/x")).text();
    await sleep(50);
    await assert.rejects(get("/x"), { name: "TypeError", message: "fetch failed" });
    assert.equal(server.hits("/x").length, 1);
    assert.equal(server.dropped("/x").length, 1);
    assert.equal((await get("/x")).status, 200);
  });

  test("drip: the body comes in pieces", async () => {
    server.script("/x", { body: "abcdef", drip: { bytes: 2, every: 20 } });
    const pieces = [];
    for await (const piece of (await get("/x")).body.pipeThrough(new TextDecoderStream())) pieces.push(piece);
    assert.deepEqual(pieces, ["ab", "cd", "ef"]);
  });

  test("redirect", async () => {
    server.script("/x", { redirect: "/y" });
    server.script("/y", 200);
    const response = await get("/x");
    assert.deepEqual([response.redirected, response.url], [true, `${server.url}/y`]);
  });

  test("echo answers with the request", async () => {
    server.script("/x", { echo: true });
    const echo = await (await get("/x", { method: "PUT", headers: { "X-Extra": "1" }, body: "b" })).json();
    assert.deepEqual([echo.method, echo.url, echo.headers["x-extra"], echo.body], ["PUT", "/x", "1", "b"]);
  });

  test("a step may be decided per request", async () => {
    server.script("/x", (hit) => (hit.text === "please" ? 200 : 400));
    assert.equal((await get("/x", { method: "POST", body: "please" })).status, 200);
    assert.equal((await get("/x", { method: "POST", body: "now" })).status, 400);
  });

  test("the closed port refuses connections", async () => {
    await assert.rejects(fetch(server.closedUrl), (error) => error.cause.code === "ECONNREFUSED");
  });

  test("close() ends everything, whatever is under way", async () => {
    server.script("/stall", "stall");
    server.script("/drip", { body: "x".repeat(1000), drip: { bytes: 1, every: 1000 } });
    const calls = [get("/stall"), get("/drip").then((response) => response.text())].map((call) =>
      call.catch((error) => error.name),
    );
    await until(() => server.busy() === 2);
    await server.close();
    assert.deepEqual(await Promise.all(calls), ["TypeError", "TypeError"]);
    assert.equal(server.openSockets(), 0);
  });
});

describe("Chromium's fetch", () => {
  let page;

  beforeEach(async () => {
    page = await (await launch()).newPage();
    await page.goto(server.url);
  });
  afterEach(() => page.close());

  /** What became of one request, and whether its body could be read. */
  const outcome = (url, init) =>
    page.evaluate(
      async ([url, init]) => {
        try {
          const response = await fetch(url, init);
          return await response.text().then(
            (text) => ({ status: response.status, text }),
            () => ({ status: response.status, broken: true }),
          );
        } catch (error) {
          return { error: error.name };
        }
      },
      [url, init],
    );

  for (const step of ["refuse", "hang-up", "reset-headers"]) {
    test(`${step}: no answer arrives`, async () => {
      server.script("/x", step);
      assert.deepEqual(await outcome(`${server.url}/x`), { error: "TypeError" });
      assert.equal(server.hits("/x").length, 1);
    });

    test(`${step} on a used connection: Chromium itself sends even a POST once more`, async () => {
      server.script("/first", 200);
      server.script("/x", [step, { body: "hello" }]);
      await outcome(`${server.url}/first`);
      assert.deepEqual(await outcome(`${server.url}/x`, { method: "POST", body: "b" }), { status: 200, text: "hello" });
      assert.deepEqual(
        server.hits("/x").map((hit) => hit.text),
        ["b", "b"],
      );
    });
  }

  for (const step of ["reset-body", "cut-body"]) {
    test(`${step}: the headers arrive, the body breaks`, async () => {
      server.script("/x", step);
      assert.deepEqual(await outcome(`${server.url}/x`), { status: 200, broken: true });
      assert.equal(server.hits("/x").length, 1);
    });
  }

  test("stall: the server sees the client give up", async () => {
    server.script("/x", "stall");
    await page.evaluate((url) => {
      globalThis.controller = new AbortController();
      globalThis.answer = fetch(url, { signal: globalThis.controller.signal }).catch((error) => error);
    }, `${server.url}/x`);
    await until(() => server.hits("/x").length);
    const error = await page.evaluate(() => {
      globalThis.controller.abort("enough");
      return globalThis.answer;
    });
    assert.equal(error, "enough");
    await until(() => server.hits("/x")[0].aborted);
  });

  test("six unread answers occupy an origin: the seventh request waits until one is cancelled", async () => {
    server.script("/big", { body: HUGE, headers: NO_STORE });
    server.script("/x", 200);
    await page.evaluate(async (url) => {
      globalThis.unread = await Promise.all(Array.from({ length: 6 }, (_, i) => fetch(`${url}/big?${i}`)));
      globalThis.seventh = fetch(`${url}/x`);
    }, server.url);
    await sleep(300);
    assert.equal(server.hits("/x").length, 0);
    assert.equal(
      await page.evaluate(async () => {
        await globalThis.unread[0].body.cancel();
        return (await globalThis.seventh).status;
      }),
      200,
    );
  });

  test("another origin's answer is readable only with cors, its Retry-After only when exposed", async () => {
    server.script("/closed", 200);
    server.script("/open", { status: 503, retryAfter: 2, cors: true });
    server.script("/exposed", { status: 503, retryAfter: 2, cors: "Retry-After" });
    assert.deepEqual(await outcome(`${server.origin2}/closed`), { error: "TypeError" });
    const hint = (path) =>
      page.evaluate((url) => fetch(url).then((response) => response.headers.get("retry-after")), server.origin2 + path);
    assert.equal(await hint("/open"), null);
    assert.equal(await hint("/exposed"), "2");
  });

  test("a preflight is answered by the server itself and consumes no step", async () => {
    server.script("/x", [{ body: "hello", cors: true }]);
    assert.deepEqual(await outcome(`${server.origin2}/x`, { method: "PUT", body: "b" }), {
      status: 200,
      text: "hello",
    });
    assert.equal(server.preflights("/x").length, 1);
    assert.equal(server.hits("/x").length, 1);
  });
});
