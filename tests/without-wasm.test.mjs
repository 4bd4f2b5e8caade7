// Where WebAssembly is refused: its stand-in in JavaScript does the same, and where that cannot be had calls say why, or go
// through without a core.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { launch } from "./support/browser.mjs";
import { subjects } from "./support/facts/index.mjs";
import { blank, browserEntry, install, packageFiles } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";
import { actInPage } from "./support/toolkit.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const PATIENCE = { timeout: 60_000 };
const PRELOAD = "./tests/support/without-wasm.mjs";
const HTML = { "Content-Type": "text/html" };
const SCRIPT = { "Content-Type": "text/javascript" };
const FALLBACK = "/steadfetch/dist/fallback.js";
const SEEDS = [1, 60];

const traces = (...flags) =>
  run(process.execPath, [...flags, "tests/support/aborts/traces.mjs", ...SEEDS.map(String)], {
    cwd: root,
    maxBuffer: 2 ** 28,
  });

describe("the stand-in in Node", () => {
  test(
    "tells calls the same as the wasm, byte for byte, by 60 seeds and at the ends of all numbers",
    PATIENCE,
    async () => {
      const [wasm, script] = await Promise.all([traces(), traces("--import", PRELOAD)]);
      const [[first, ...told], [second, ...toldToo]] = [wasm, script].map(({ stdout }) => stdout.split("\n"));
      assert.deepEqual([first, second], ["WebAssembly is object", "WebAssembly is undefined"]);
      assert.ok(told.length > 150 && told.join("").length > 100_000, `${told.length} lines`);
      assert.deepEqual(toldToo, told);
    },
  );

  for (const name of ["aborts", "circuits", "limits", "page", "requests", "waits"]) {
    test(`passes tests/cases-${name}.test.mjs`, { timeout: 300_000 }, () => passes(`tests/cases-${name}.test.mjs`));
  }
  test("passes tests/snapshot.test.mjs", PATIENCE, () => passes("tests/snapshot.test.mjs"));
  test("passes tests/debug.test.mjs", PATIENCE, () => passes("tests/debug.test.mjs"));
});

/** A file of tests, in a process of its own; it has to hold some. */
async function passes(file) {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { stdout } = await run(process.execPath, ["--import", PRELOAD, "--test-reporter=tap", file], {
    cwd: root,
    env,
  });
  const [, count] = /^# pass (\d+)$/m.exec(stdout);
  assert.match(stdout, /^# fail 0$/m);
  assert.ok(Number(count) > 5, `${count} tests`);
}

let server;
let page;
/** What is served in the place of files of the package. */
let instead;
let faults;

async function open(more = {}) {
  const context = await (await launch()).newContext();
  page = await context.newPage();
  faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  const files = await packageFiles(more);
  instead = new Map();
  server = await startServer({
    cors: true,
    files: (request, response) => {
      const { pathname } = new URL(request.url, "http://localhost");
      const other = instead.get(pathname);
      if (!other) return files(request, response);
      other(response);
      return true;
    },
  });
}

async function shut() {
  await page.context().close();
  await server.close();
}

/** Runs `act` in the page, with the toolkit over the package. */
const inPage = (act, input) => actInPage(page, server, act, input);

describe("the stand-in in a browser without WebAssembly", () => {
  beforeEach(async () => {
    await open();
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, "WebAssembly"));
    await page.goto(server.url);
  });
  afterEach(shut);

  for (const [subject, facts] of Object.entries(subjects)) {
    describe(subject, () => {
      for (const { name, only, steps, act, input, check } of facts) {
        if (only === "node") continue;
        test(name, PATIENCE, async () => {
          for (const [path, script] of Object.entries(steps)) server.script(path, script);
          await inPage(async ({ createFetch }) => {
            if ("WebAssembly" in globalThis) throw new Error("there is WebAssembly");
            await createFetch().ready();
          });
          check?.(await inPage(act, input), server);
          assert.deepEqual(faults, []);
        });
      }
    });
  }
});

/** The answer to the fallback, once `open` is called. */
function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  instead.set(FALLBACK, async (response) => {
    await opened;
    const body = await readFile(path.join(await install(), "node_modules/steadfetch/dist/fallback.js"));
    response.writeHead(200, { ...SCRIPT, Connection: "close" }).end(body);
  });
  return open;
}

describe("while the stand-in loads", () => {
  let openGate;
  beforeEach(async () => {
    await open();
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, "WebAssembly"));
    openGate = gate();
    await page.goto(server.url);
  });
  afterEach(shut);

  test("calls are idle, then go as ever, with the body that they were given", PATIENCE, async () => {
    server.script("/x", [{ status: 503, retryAfter: 0 }, 200]);
    await inPage(({ createFetch, url }) => {
      const client = createFetch({ retry: { delay: 0 } });
      const states = [];
      const params = new URLSearchParams({ a: "1" });
      const init = { method: "PUT", body: params, throwHttpErrors: true, onState: ({ status }) => states.push(status) };
      const call = client.start(`${url}/x`, init);
      params.set("a", "2");
      init.throwHttpErrors = "changed";
      globalThis.kept = {
        client,
        call,
        states,
        begun: [call.state.status, client.calls().length, call.request.method],
      };
    });
    openGate();
    const { begun, states, status } = await inPage(async () => {
      const { call, states, begun } = globalThis.kept;
      return { begun, status: (await call).status, states };
    });
    assert.deepEqual(begun, ["idle", 1, "PUT"]);
    assert.deepEqual(states, ["loading", "waiting", "loading", "success"]);
    assert.equal(status, 200);
    assert.deepEqual(
      server.hits("/x").map(({ body }) => String(body)),
      ["a=1", "a=1"],
    );
  });

  for (const [way, act] of Object.entries({
    "a signal": ({ controller }) => controller.abort("left"),
    "cancel()": ({ call }) => call.cancel("left"),
    "dispose()": ({ client }) => client.dispose(),
    "dispose() of the client that was extended": ({ parent }) => parent.dispose(),
  })) {
    test(`a call is given up at once by ${way}, and never sent`, PATIENCE, async () => {
      server.script("/x", 200);
      const seen = await page.evaluate(
        `import("steadfetch").then(async ({ createFetch }) => {
          const controller = new AbortController();
          const parent = createFetch({ retry: { delay: 0 } });
          const client = parent.extend({ timeout: 5_000 });
          const states = [];
          const call = client.start("${server.url}/x", { signal: controller.signal, onState: ({ status }) => states.push(status) });
          (${act})({ controller, call, client, parent });
          const reason = await call.response.catch((error) => String(error?.name ?? error));
          globalThis.over = states;
          return { reason, states: [...states], left: client.calls().length };
        })`,
      );
      assert.deepEqual(seen, {
        reason: way.startsWith("dispose") ? "AbortError" : "left",
        states: ["cancelled"],
        left: 0,
      });
      openGate();
      await inPage(({ createFetch }) => createFetch().ready());
      assert.deepEqual(await page.evaluate(() => globalThis.over), ["cancelled"]);
      assert.equal(server.hits("/x").length, 0);
    });
  }

  test("a call that was given up can be run again", PATIENCE, async () => {
    server.script("/x", 200);
    await inPage(({ createFetch, url }) => {
      const client = createFetch();
      const call = client.start(`${url}/x`);
      call.cancel();
      globalThis.again = call.retry();
      globalThis.pending = call.retry() === globalThis.again;
      globalThis.waits = [call.state.status, call.state.run, client.getSnapshot().loading];
      globalThis.call = call;
    });
    openGate();
    const seen = await page.evaluate(async () => {
      const { status } = await globalThis.again;
      return { status, run: globalThis.call.state.run, pending: globalThis.pending, waits: globalThis.waits };
    });
    assert.deepEqual(seen, { status: 200, run: 2, pending: true, waits: ["idle", 2, 1] });
  });

  test("a signal that is aborted already ends the call at once", PATIENCE, async () => {
    const reason = await inPage(({ createFetch, url }) =>
      createFetch()(`${url}/x`, { signal: AbortSignal.abort("left") }).catch((error) => error),
    );
    assert.equal(reason, "left");
    openGate();
  });

  test("what is held or closed by hand waits for the core, and so does ready()", PATIENCE, async () => {
    await inPage(({ createFetch }) => {
      const client = (globalThis.client = createFetch({ timeout: 1_000 }));
      client.circuits.isolate("let go")();
      globalThis.off = client.circuits.isolate("held");
      client.circuits.reset();
    });
    openGate();
    const states = await page.evaluate(async () => {
      await globalThis.client.ready();
      const status = (key) => globalThis.client.circuits.get(key)?.status;
      const before = [status("held"), status("let go")];
      globalThis.off();
      return [...before, status("held")];
    });
    assert.deepEqual(states, ["isolated", undefined, "closed"]);
  });

  test("what was given to restore is what snapshot() gives", PATIENCE, async () => {
    const seen = await inPage(({ createFetch }) => {
      const keys = [["https://a.test", Date.now() + 60_000, 0, 1, -1, 0, null, 0]];
      const restore = JSON.stringify({ steadfetch: 2, at: Date.now(), keys });
      globalThis.client = createFetch({}, { restore });
      return globalThis.client.snapshot() === restore;
    });
    assert.ok(seen);
    openGate();
    const key = await page.evaluate(async () => {
      await globalThis.client.ready();
      return JSON.parse(globalThis.client.snapshot()).keys[0][0];
    });
    assert.equal(key, "https://a.test");
  });

  for (const [what, make] of Object.entries({
    "a frozen init": (url) => [url, Object.freeze({ method: "PUT", body: "b", retry: Object.freeze({ delay: 0 }) })],
    "an init that guards its members": (url) => [
      url,
      new (class {
        #method = "PUT";
        body = "b";
        get method() {
          return this.#method;
        }
      })(),
    ],
    "a stream": (url) => [url, { method: "POST", body: new Blob(["b"]).stream(), duplex: "half" }],
  })) {
    test(`${what} goes as ever`, PATIENCE, async () => {
      server.script("/x", 200);
      await page.evaluate(`import("steadfetch").then(({ createFetch }) => {
        globalThis.sent = createFetch()(...(${make})("${server.url}/x")).then(({ status }) => status, String);
      })`);
      openGate();
      const status = await page.evaluate(() => globalThis.sent);
      // Chromium streams to HTTP/2 servers only.
      if (what === "a stream") assert.match(String(status), /TypeError: Failed to fetch|200/);
      else assert.equal(status, 200);
    });
  }

  test("an init that is none rejects as ever", PATIENCE, async () => {
    await inPage(({ createFetch, url }) => {
      globalThis.wrong = createFetch()(`${url}/x`, 5).then(
        () => "it resolved",
        ({ name }) => name,
      );
    });
    openGate();
    assert.equal(await page.evaluate(() => globalThis.wrong), "TypeError");
  });

  test("bad options throw at once all the same", PATIENCE, async () => {
    await inPage(({ createFetch }) => {
      try {
        globalThis.bad = `taken: ${createFetch({ timeout: "soon" })}`;
      } catch (error) {
        globalThis.bad = String(error);
      }
    });
    assert.match(await page.evaluate(() => globalThis.bad), /^TypeError: .*timeout/);
  });

  test("what is restored, watched and shared takes effect with the core", PATIENCE, async () => {
    await inPage(({ createFetch }) => {
      const at = Date.now();
      const keys = [["https://a.test", at + 60_000, 0, 1, -1, 0, null, 0]];
      const restore = JSON.stringify({ steadfetch: 2, at, keys });
      const client = createFetch({ breaker: { share: "tabs" } }, { restore });
      const seen = (globalThis.seen = []);
      client.circuits.subscribe((all) => seen.push(all.map(({ status }) => status).join()));
      globalThis.client = client;
    });
    openGate();
    const seen = await page.evaluate(async () => {
      await globalThis.client.ready();
      const statuses = () => [...globalThis.client.circuits].map(({ status }) => status);
      const before = statuses();
      globalThis.client.circuits.reset();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { before, after: statuses(), told: globalThis.seen.at(-1) };
    });
    assert.deepEqual(seen, { before: ["open"], after: ["closed"], told: "closed" });
  });
});

describe("a policy or a proxy that refuses WebAssembly", () => {
  const ONE_CALL = (options) => `
    import { createFetch } from "/steadfetch/dist/index.js";
    const client = globalThis.client = createFetch(${JSON.stringify(options)});
    const states = [];
    globalThis.outcome = client("/x", { onState: (state) => states.push([state.status, state.degraded]) }).then(
      ({ status }) => ({ status, states, snapshot: client.getSnapshot() }),
      (error) => ({ message: String(error?.message ?? error), states, snapshot: client.getSnapshot() }),
    );
  `;
  const PAGE = blank('<script type="module" src="/one-call.js"></script>');
  const policy = (sources) => ({ ...HTML, "Content-Security-Policy": `script-src ${sources}` });
  const RETRYING = { retry: { delay: 0, limit: 1 } };

  before(async () => assert.equal(await browserEntry(), "dist/index.js"));
  beforeEach(() =>
    open({
      "/one-call.js": { headers: SCRIPT, body: ONE_CALL(RETRYING) },
      "/degrading.js": { headers: SCRIPT, body: ONE_CALL({ ...RETRYING, degrade: true }) },
      "/plain": { headers: HTML, body: PAGE },
      "/strict": { headers: policy("'self'"), body: PAGE },
      "/with-wasm": { headers: policy("'self' 'wasm-unsafe-eval'"), body: PAGE },
      // A policy that names files.
      "/stricter": { headers: policy("http://*:*/one-call.js http://*:*/steadfetch/dist/index.js"), body: PAGE },
      // Only WebAssembly is forbidden.
      "/degrading-slow": {
        headers: policy("'self'"),
        body: blank('<script type="module" src="/degrading.js"></script>'),
      },
      "/degrading": {
        headers: policy("http://*:*/degrading.js http://*:*/steadfetch/dist/index.js"),
        body: blank('<script type="module" src="/degrading.js"></script>'),
      },
    }),
  );
  afterEach(shut);

  const outcome = async (path) => {
    await page.goto(server.url + path);
    return page.evaluate(() => globalThis.outcome);
  };
  const asked = (name) => server.hits(name).length;
  const watchFallback = (answer) => {
    let asked = 0;
    instead.set(FALLBACK, (response) => {
      asked++;
      answer(response);
    });
    return () => asked;
  };
  const genuine = async () => readFile(path.join(await install(), "node_modules/steadfetch/dist/fallback.js"), "utf8");

  test("a policy without wasm-unsafe-eval gets the stand-in, which retries", PATIENCE, async () => {
    server.script("/x", [{ status: 503, retryAfter: 0 }, 200]);
    const { status, states, snapshot } = await outcome("/strict");
    assert.equal(status, 200);
    assert.deepEqual(
      states.map(([status]) => status),
      ["loading", "waiting", "loading", "success"],
    );
    assert.ok(!("degraded" in snapshot));
    assert.deepEqual(faults, []);
  });

  test("whoever has WebAssembly does not load the stand-in", PATIENCE, async () => {
    server.script("/x", 200);
    const count = watchFallback((response) => response.writeHead(404).end());
    assert.equal((await outcome("/with-wasm")).status, 200);
    assert.equal((await outcome("/plain")).status, 200);
    assert.equal(count(), 0);
  });

  test("a policy that forbids both gets one error that names causes and ways out", PATIENCE, async () => {
    const { message, states } = await outcome("/stricter");
    for (const part of [/wasm-unsafe-eval/, /fallback\.js/, /degrade: true/, /Content-Security-Policy/]) {
      assert.match(message, part);
    }
    assert.deepEqual(
      states,
      [["failed", null]].map(([status]) => [status, undefined]),
    );
    assert.equal(asked("/x"), 0);
    const text = await page.evaluate(() => globalThis.client.ready().catch(({ message }) => message));
    assert.equal(text, message);
  });

  test("a script whose bytes were altered is noticed, and the stand-in takes its place", PATIENCE, async () => {
    server.script("/x", 200);
    const file = path.join(await install(), "node_modules/steadfetch/dist/index.js");
    const code = await readFile(file, "utf8");
    // One letter of the wasm, far into its string.
    const at = code.lastIndexOf("\nvar ") + 30_000;
    const letter = at + code.slice(at).search(/(?<=[b-z])[b-z](?=[b-z])/);
    const altered = `${code.slice(0, letter)}a${code.slice(letter + 1)}`;
    instead.set("/steadfetch/dist/index.js", (response) =>
      response.writeHead(200, { ...SCRIPT, Connection: "close" }).end(altered),
    );
    const count = watchFallback(async (response) => response.writeHead(200, SCRIPT).end(await genuine()));
    assert.equal((await outcome("/plain")).status, 200);
    assert.equal(count(), 1);
    watchFallback((response) => response.writeHead(404).end());
    assert.match((await outcome("/plain")).message, /altered on its way/);
  });

  test("a stand-in of another release is not used, and the error says so", PATIENCE, async () => {
    const other = (await genuine()).replace(/"[0-9a-f]{8}"/, '"00000000"');
    assert.notEqual(other, await genuine());
    watchFallback((response) => response.writeHead(200, SCRIPT).end(other));
    const { message } = await outcome("/strict");
    assert.match(message, /another release/);
    assert.match(message, /reloaded/);
  });

  test("one that could not be loaded is asked for again after ten seconds", PATIENCE, async () => {
    server.script("/x", 200);
    let lost = true;
    const body = await genuine();
    const count = watchFallback((response) =>
      lost ? response.writeHead(404).end() : response.writeHead(200, SCRIPT).end(body),
    );
    assert.match((await outcome("/strict")).message, /fallback\.js/);
    lost = false;
    const again = () => page.evaluate(() => globalThis.client("/x").then((r) => r.status, String));
    assert.match(await again(), /fallback\.js/);
    assert.equal(count(), 1);
    await page.evaluate(() => {
      const now = performance.now.bind(performance);
      performance.now = () => now() + 11_000;
    });
    assert.equal(await again(), 200);
    assert.equal(count(), 2);
  });

  test("with degrade: true calls go through once, and say so", PATIENCE, async () => {
    server.script("/x", [200, 503, 404]);
    const { status, states, snapshot } = await outcome("/degrading");
    assert.equal(status, 200);
    assert.deepEqual(states, [
      ["loading", true],
      ["success", true],
    ]);
    assert.equal(snapshot.degraded, true);
    const more = await page.evaluate(async (closedUrl) => {
      const { client } = globalThis;
      const seen = [];
      for (const url of ["/x", "/x", closedUrl]) {
        const call = client.start(url);
        const during = client.getSnapshot().loading;
        const value = await call.response.then(
          ({ status }) => status,
          ({ name }) => name,
        );
        const { status, reason, attempt, maxAttempts, degraded } = call.state;
        seen.push([value, status, reason, attempt, maxAttempts, degraded, during]);
      }
      return seen;
    }, server.closedUrl);
    assert.deepEqual(more, [
      [503, "failed", "status", 1, 1, true, 1],
      [404, "failed", "status", 1, 1, true, 1],
      ["TypeError", "exhausted", "limit", 1, 1, true, 1],
    ]);
    assert.equal(asked("/x"), 3);
  });

  test("a script that never comes keeps nobody for more than ten seconds", PATIENCE, async () => {
    server.script("/x", 200);
    watchFallback(() => {});
    const began = performance.now();
    const { status, states } = await outcome("/degrading-slow");
    assert.equal(status, 200);
    assert.equal(states.at(-1)[1], true);
    assert.ok(performance.now() - began > 9_000);
    assert.equal(await page.evaluate(() => globalThis.client.ready()), undefined);
  });

  test("a run of a call that goes through ends by its own answer", PATIENCE, async () => {
    await outcome("/degrading");
    const seen = await page.evaluate(async () => {
      const { client } = globalThis;
      const answers = [];
      const fetch = () => new Promise((resolve) => answers.push(resolve));
      const states = [];
      const call = client.start("/x", { fetch, onState: ({ status, run }) => states.push(status + run) });
      await new Promise((resolve) => setTimeout(resolve, 10));
      call.cancel("left");
      const again = call.retry();
      await new Promise((resolve) => setTimeout(resolve, 10));
      answers[0](new Response("first"));
      await new Promise((resolve) => setTimeout(resolve, 10));
      answers[1](new Response("second"));
      return { text: await (await again).text(), states };
    });
    assert.deepEqual(seen, { text: "second", states: ["loading1", "cancelled1", "loading2", "success2"] });
  });

  test("the client's store tells of calls that go through, and of nothing else", PATIENCE, async () => {
    server.script("/x", 200);
    await outcome("/degrading");
    const seen = await page.evaluate(async () => {
      const { client } = globalThis;
      const told = [];
      const off = client.subscribe(({ loading, degraded }) => told.push([loading, degraded]));
      await client("/x");
      await new Promise((resolve) => setTimeout(resolve, 20));
      const snapshots = new Set([client.getSnapshot(), client.getSnapshot()]);
      off();
      const nothing = client.start("/x", { fetch: async () => undefined });
      const name = await nothing.response.catch((error) => error.name);
      return { told, same: snapshots.size === 1, name, status: nothing.state.status, left: client.calls().length };
    });
    const told = [
      [0, true],
      [1, true],
      [0, true],
    ];
    assert.deepEqual(seen, { told, same: true, name: "TypeError", status: "exhausted", left: 0 });
  });

  test("calls that go through can be cancelled, and run again", PATIENCE, async () => {
    server.script("/x", 200);
    server.script("/slow", [{ status: 200, delay: 5_000 }, 200]);
    await outcome("/degrading");
    const seen = await page.evaluate(async () => {
      const { client } = globalThis;
      const controller = new AbortController();
      const call = client.start("/slow", { signal: controller.signal });
      setTimeout(() => controller.abort("left"), 100);
      const began = performance.now();
      const reason = await call.response.catch((error) => error);
      const soon = performance.now() - began < 2_000;
      const wrong = client.start("http://[");
      const message = await wrong.response.catch(({ name }) => name);
      const other = client.start("/slow", { fetch: async () => new Response("mine", { status: 201 }) });
      const { status } = await other;
      other.retry();
      return {
        ...{ reason, soon, message, status, run: other.state.run, state: call.state.status },
        wrong: wrong.state.reason,
        mine: (await other.response).status,
        left: client.calls().length,
      };
    });
    assert.deepEqual(seen, {
      ...{ reason: "left", soon: true, message: "TypeError", status: 201, run: 2, state: "cancelled" },
      ...{ wrong: "invalid-request", mine: 201, left: 0 },
    });
  });
});
