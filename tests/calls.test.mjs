// client.calls(): what is under way, whoever has begun it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { load } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

let server;
let createFetch;
before(async () => {
  server = await startServer();
  ({ createFetch } = await load());
});
after(() => server.close());

const SLOW = { retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } };
const states = (client) => client.calls().map(({ state }) => state.status);

describe("client.calls()", () => {
  test("is empty before the first call and after the last", async () => {
    const client = createFetch();
    assert.deepEqual(client.calls(), []);
    server.script("/a", [200]);
    const response = client(`${server.url}/a`);
    assert.deepEqual(states(client), ["loading"]);
    await response;
    assert.deepEqual(client.calls(), []);
  });

  test("lists calls in the order in which they began, those of extend() among them", async () => {
    const client = createFetch(SLOW);
    for (const path of ["/1", "/2", "/3"]) server.script(path, ["stall"]);
    const call = client.start(`${server.url}/1`);
    void client(`${server.url}/2`).catch(() => {});
    void client
      .extend({ timeout: false })(`${server.url}/3`)
      .catch(() => {});
    const found = client.calls();
    assert.deepEqual(
      found.map(({ request }) => new URL(request.url).pathname),
      ["/1", "/2", "/3"],
    );
    assert.equal(found[0], call);
    assert.equal(client.calls()[1], found[1], "a call is always the same object");
    call.cancel();
    assert.equal(client.calls().length, 2);
    client.dispose();
    assert.deepEqual(client.calls(), []);
  });

  test("knows the state of a call that nobody has looked at, as it was when it began", async () => {
    const client = createFetch(SLOW);
    server.script("/b", [503, 200]);
    const response = client(`${server.url}/b`);
    const begun = Date.now();
    await until(() => client.getSnapshot().waiting === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [call] = client.calls();
    const { status, attempt, maxAttempts, since, failures } = call.state;
    assert.deepEqual({ status, attempt, maxAttempts }, { status: "waiting", attempt: 1, maxAttempts: 5 });
    assert.deepEqual(
      failures.map(({ kind, status }) => [kind, status]),
      [["status", 503]],
    );
    assert.ok(since >= begun && since <= Date.now() - 280);
    assert.equal(call.state, call.state);
    assert.ok(call.retryNow());
    assert.equal((await response).status, 200);
    assert.equal(call.state.status, "success");
  });

  test("cancels plain calls, whose promises reject with the reason", async () => {
    const client = createFetch(SLOW);
    server.script("/c", ["stall"]);
    const response = client(`${server.url}/c`);
    for (const call of client.calls()) call.cancel(new Error("enough"));
    await assert.rejects(response, { message: "enough" });
  });

  test("lists a call that is held", async () => {
    const client = createFetch({ retry: { limit: 0 }, onExhausted: "hold" });
    server.script("/d", [503, 200]);
    const response = client(`${server.url}/d`);
    await until(() => states(client)[0] === "exhausted");
    client.calls()[0].retry();
    assert.equal((await response).status, 200);
    assert.deepEqual(client.calls(), []);
  });
});

describe("a plain call that is run again", () => {
  test("says so where its body went out with the first request", async () => {
    const client = createFetch({ retry: false });
    for (const [path, status, reason] of [
      ["/e", 503, "exhausted"],
      ["/f", 404, "failed"],
    ]) {
      server.script(path, [status, 200]);
      let call;
      client.addEventListener(reason, ({ detail }) => (call ??= detail.call));
      await client(new Request(server.url + path, { method: "PUT", body: "text" }));
      await assert.rejects(call.retry());
      assert.deepEqual([call.state.status, call.state.reason], ["failed", "body-not-replayable"]);
      assert.equal(server.hits(path).length, 1);
    }
  });

  test("sends its body once more where it is at hand", async () => {
    server.script("/g", [503, 200]);
    const client = createFetch({ retry: false });
    let call;
    client.addEventListener("exhausted", ({ detail }) => (call = detail.call));
    await client(`${server.url}/g`, { method: "PUT", body: "text" });
    assert.equal((await call.retry()).status, 200);
    assert.deepEqual(
      server.hits("/g").map(({ body }) => String(body)),
      ["text", "text"],
    );
  });
});

describe("a client that is disposed of", () => {
  test("has no circuits and no calls, and tells those who look", async () => {
    server.script("/h", [503]);
    const client = createFetch({ retry: false, breaker: { consecutiveFailures: 1 } });
    let circuits;
    let snapshot;
    client.circuits.subscribe((now) => (circuits = now.length));
    client.subscribe(({ openCircuits, loading }) => (snapshot = [openCircuits.length, loading]));
    await client(`${server.url}/h`);
    await until(() => circuits === 1 && snapshot[0] === 1);
    server.script("/i", ["stall"]);
    const pending = client(`${server.url}/i`, { breaker: false });
    await until(() => snapshot[1] === 1);
    client.dispose();
    await assert.rejects(pending, { name: "AbortError" });
    await until(() => circuits === 0);
    assert.deepEqual(snapshot, [0, 0]);
    assert.deepEqual([...client.circuits], []);
  });
});
