// How the examples of the guide are run, and what each has to show.

import assert from "node:assert/strict";

const REPORT = "/report.json";
const hello = { body: "hello" };
const FORM = '<form><input name="text"><button>Post</button></form><ul id="pending"></ul><p id="note"></p>';
const BADGE = '<p id="badge"></p><p id="said"></p>';

/** Sends a comment by the outbox of the page. */
const postFrom = (page, text = "hello") =>
  page.evaluate(async (text) => {
    const { outbox } = await import("/examples/guide/outbox.js");
    await outbox.send("/comments", { method: "POST", body: text, meta: { text } });
  }, text);

export const guide = {
  "guide/esbuild.sh": {
    title: "bundles the page, and smaller than without its charset",
    in: "shell",
    files: { "main.js": "guide/main.js" },
    async run({ shell, run, sizeOf, serve, open }) {
      await shell("install.sh");
      await shell("guide/esbuild.sh");
      const plain = ["--bundle", "--format=esm", "--minify", "--splitting", "--outdir=plain"];
      await run("npx", "esbuild", "main.js", ...plain);
      assert.ok(sizeOf("bundle/main.js") < sizeOf("plain/main.js"));
      const lab = await open({ steps: { [REPORT]: [503, hello] }, files: serve("bundle/main.js"), at: "/bundled" });
      await lab.page.locator("#report", { hasText: "hello" }).waitFor();
      await lab.close();
    },
  },

  "guide/index.html": {
    title: "is a page that shows the report, with the package from node_modules",
    steps: { [REPORT]: [503, hello] },
    async run({ page, server, hits }) {
      await page.goto(`${server.url}/static/`);
      await page.locator("#report", { hasText: "hello" }).waitFor();
      assert.equal(hits(REPORT).length, 2);
    },
  },

  "guide/main.js": {
    title: "shows the report",
    html: '<p id="report"></p>',
    steps: { [REPORT]: [503, hello] },
    async run({ run, page }) {
      await run("guide/main");
      assert.equal(await page.locator("#report").textContent(), "hello");
    },
  },

  "guide/csp.http": [
    {
      title: "lets the package work",
      steps: { [REPORT]: [503, hello] },
      async run({ page, server }) {
        await page.goto(`${server.url}/policy/`);
        await page.locator("#report", { hasText: "hello" }).waitFor();
      },
    },
    {
      title: "without its last word lets the stand-in work",
      steps: { [REPORT]: [503, hello] },
      async run({ page, server, hits }) {
        const scripts = [];
        page.on("request", (request) => scripts.push(request.url().split("/").at(-1)));
        await page.goto(`${server.url}/policy/without`);
        await page.locator("#report", { hasText: "hello" }).waitFor();
        assert.equal(hits(REPORT).length, 2);
        assert.ok(scripts.includes("fallback.js"));
      },
    },
  ],

  "guide/server.js": {
    title: "hands on the answer that came after a failure, and asks for nothing more once its visitor has left",
    in: "node",
    steps: { [REPORT]: [503, hello, "stall"] },
    async run({ load, server, listen, hits, until }) {
      process.env.API = server.url;
      const url = await listen((await load("guide/server.js")).server);
      assert.equal(await (await fetch(url)).text(), "hello");
      assert.equal(hits(REPORT).length, 2);

      const visit = new AbortController();
      const left = assert.rejects(fetch(url, { signal: visit.signal }));
      await until(() => hits(REPORT).length === 3);
      visit.abort();
      await left;
      // By itself it would end after ten seconds.
      await until(() => hits(REPORT)[2].aborted, "the end of the request", { within: 8_000 });
    },
  },

  "guide/json.ts": [
    {
      title: "has the title",
      steps: { [REPORT]: [503, { body: '{ "title": "Parcels" }' }] },
      async run({ run, logs }) {
        await run("guide/json");
        assert.deepEqual(logs, ["Parcels"]);
      },
    },
    {
      title: "throws where the answer is a failure",
      steps: { [REPORT]: 404 },
      async run({ run, logs }) {
        await assert.rejects(run("guide/json"), /The server answered 404/);
        assert.deepEqual(logs, []);
      },
    },
  ],

  "guide/client.ts": {
    title: "waits half a second at least, and while a circuit is open",
    steps: { [REPORT]: [503, 200], "/down": [503, 503, 503, 503, 503, 200] },
    async run({ page, hits, until }) {
      await page.evaluate(async () => {
        const { fetch } = await import("/examples/guide/client.js");
        globalThis.client = fetch;
        await fetch("/report.json");
        for (let i = 0; i < 5; i++) await fetch("/down", { retry: false });
        globalThis.call = fetch.start("/down");
      });
      const [first, second] = hits(REPORT);
      assert.ok(second.at - first.answeredAt >= 499, `${second.at - first.answeredAt} ms`);
      await until(() => page.evaluate(() => call.state.status === "circuit-open" && !call.state.settled));
      assert.equal(await page.evaluate(() => call.retryNow()), true);
      assert.equal(await page.evaluate(async () => (await call).status), 200);
    },
  },

  "guide/global.ts": {
    title: "is what the page sends by from then on",
    steps: { [REPORT]: [503, 200], "/other": [503, 200] },
    async run({ run, page, logs, hits }) {
      await run("guide/global");
      assert.deepEqual(logs, ["200"]);
      assert.equal(await page.evaluate(async () => (await fetch("/other")).status), 200);
      assert.equal(hits("/other").length, 2);
    },
  },

  "guide/line.ts": [
    {
      title: "counts down, and says when it is here",
      html: '<p id="line"></p>',
      clock: true,
      steps: { [REPORT]: [{ status: 503, retryAfter: 2 }, { delay: 300 }] },
      async run({ run, page }) {
        const shown = page.evaluate(() => {
          const texts = [];
          const place = document.querySelector("#line");
          return new Promise((resolve) => {
            new MutationObserver(() => {
              if (texts.at(-1) !== place.textContent) texts.push(place.textContent);
              if (texts.at(-1) === "Here it is") resolve(texts);
            }).observe(place, { childList: true });
          });
        });
        await run("guide/line");
        await page.getByText("Trying again in 3 s").waitFor();
        await page.clock.runFor(2_300);
        // Two seconds and up to a tenth more, which begin as the third.
        assert.deepEqual(await shown, [
          "Loading",
          "Trying again in 3 s",
          "Trying again in 2 s",
          "Trying again in 1 s",
          "Loading",
          "Here it is",
        ]);
      },
    },
    {
      title: "says what the server answered",
      html: '<p id="line"></p>',
      steps: { [REPORT]: 404 },
      async run({ run, page }) {
        await run("guide/line");
        await page.getByText("The server answered 404").waitFor();
      },
    },
  ],

  "guide/over.ts": {
    title: "is false while a call is pending, and true of each of its ends",
    in: "node",
    steps: { "/good": 200, "/missing": 404, "/down": 503, "/stall": "stall" },
    async run({ load, server }) {
      const { isOver } = await load("guide/over.ts");
      const { createFetch } = await import("steadfetch");
      /** The state of a call that has that status, and whether it is over. */
      const reached = async (path, status, options) => {
        const client = createFetch({ retry: { limit: 1, delay: 1 }, ...options });
        if (status === "circuit-open") client.circuits.isolate(server.url);
        const call = client.start(server.url + path);
        if (status === "cancelled") call.cancel();
        await new Promise((resolve) => call.subscribe((state) => state.status === status && resolve()));
        const over = isOver(call.state);
        client.dispose();
        return over;
      };
      assert.equal(await reached("/stall", "loading"), false);
      assert.equal(await reached("/down", "waiting", { retry: { delay: 9_000, jitter: "none" } }), false);
      assert.equal(await reached("/down", "circuit-open", { onCircuitOpen: "wait" }), false);
      assert.equal(await reached("/down", "exhausted", { onExhausted: "hold" }), false);
      assert.equal(await reached("/good", "success"), true);
      assert.equal(await reached("/missing", "failed"), true);
      assert.equal(await reached("/down", "exhausted"), true);
      assert.equal(await reached("/down", "circuit-open"), true);
      assert.equal(await reached("/stall", "cancelled"), true);
    },
  },

  "guide/failures.ts": {
    title: "says what the attempts came to",
    // A new connection for the second: on a used one that is reset Chromium sends by itself again.
    steps: { [REPORT]: [{ status: 503, close: true }, "refuse", 503] },
    async run({ run, page, server, logs }) {
      await run("guide/failures");
      await page.evaluate(async () => {
        const { fetch } = await import("/examples/guide/client.js");
        await fetch("/report.json", { retry: { limit: 2, delay: 1 } });
      });
      assert.deepEqual(logs, [`${server.url}${REPORT} ended after 503, network, 503: limit`]);
    },
  },

  "guide/search.ts": {
    title: "ends the search before, and sends nothing more for it",
    clock: true,
    steps: { "/search": ({ url }) => (url.endsWith("=a") ? 503 : { body: '["abacus"]' }) },
    async run({ page, hits, until }) {
      await page.evaluate(async () => {
        const { fetch } = await import("/examples/guide/client.js");
        const { search } = await import("/examples/guide/search.js");
        globalThis.fetch = fetch;
        globalThis.first = search("a").catch(({ name }) => name);
      });
      await until(() => page.evaluate(() => fetch.getSnapshot().waiting === 1));
      const found = await page.evaluate(async () => {
        const { search } = await import("/examples/guide/search.js");
        return [await search("ab"), await first];
      });
      assert.deepEqual(found, [["abacus"], "AbortError"]);
      await page.clock.runFor(60_000);
      assert.equal(hits("/search").length, 2);
    },
  },

  "guide/limits.ts": {
    title: "ends attempts after two seconds, and all of them after five",
    clock: true,
    steps: { [REPORT]: "stall" },
    async run({ run, page, logs, hits, until }) {
      const over = run("guide/limits");
      over.catch(() => {}); // what goes wrong before is told instead
      const sent = (count) => until(() => hits(REPORT).length === count);
      await sent(1);
      await page.clock.runFor(1_990);
      assert.equal(hits(REPORT)[0].aborted, false);
      await page.clock.runFor(310); // the wait takes a quarter of a second at most, the next one half of one
      await sent(2);
      await page.clock.runFor(2_500);
      await sent(3);
      assert.deepEqual(logs, []);
      await page.clock.runFor(200);
      await over;
      assert.deepEqual(logs, ["total took longer than 5000 ms"]);
    },
  },

  "guide/view.ts": {
    title: "ends its own calls and no others",
    steps: { [REPORT]: "stall", "/other": [{ delay: 500 }] },
    async run({ page, hits, until }) {
      await page.evaluate(async () => {
        const { fetch } = await import("/examples/guide/client.js");
        const { load, leave } = await import("/examples/guide/view.js");
        globalThis.others = fetch("/other").then(({ status }) => status);
        globalThis.own = load().catch(({ name }) => name);
        globalThis.leave = leave;
      });
      await until(() => hits(REPORT).length === 1 && hits("/other").length === 1);
      const ends = await page.evaluate(() => {
        leave();
        return Promise.all([own, others]);
      });
      assert.deepEqual(ends, ["AbortError", 200]);
      await until(() => hits(REPORT)[0].aborted);
    },
  },

  "guide/order.ts": {
    title: "sends one key, however often it is clicked and tried again",
    html: '<form><input name="item" value="7"><button>Order</button></form>',
    steps: { "/orders": [503, 201] },
    async run({ run, page, hits, until, logs }) {
      await run("guide/order");
      await page.getByRole("button").dblclick();
      await until(() => logs.length === 2);
      assert.deepEqual(logs, ["201", "201"]);
      const keys = new Set(hits("/orders").map(({ headers }) => headers["idempotency-key"]));
      assert.equal(hits("/orders").length, 3);
      assert.equal(keys.size, 1);
      assert.match([...keys][0], /^[0-9a-f-]{36}$/);
      for (const { text } of hits("/orders")) assert.match(text, /name="item"\s+7\s/);
    },
  },

  "guide/comment.ts": {
    title: "is sent once, and again when the person says so",
    steps: { "/comments": [503, 201] },
    async run({ run, page, sent, until }) {
      const asked = new Promise((resolve) => page.once("dialog", resolve));
      await run("guide/comment");
      const dialog = await asked;
      assert.equal(dialog.message(), "Your comment may have arrived. Send it once more?");
      assert.deepEqual(sent("/comments"), ["POST Well done"]);
      await dialog.accept();
      await until(() => sent("/comments").length === 2);
    },
  },

  "guide/banner.ts": {
    title: "tells that the network is gone, and that a server has problems",
    html: '<p id="banner" hidden></p>',
    steps: { [REPORT]: 503 },
    async run({ run, page, context, server, until }) {
      await run("guide/banner");
      const banner = page.locator("#banner");
      assert.equal(await banner.isHidden(), true);
      await page.evaluate(async () => {
        globalThis.client = (await import("/examples/guide/client.js")).fetch;
        await client.ready();
      });
      await context.setOffline(true);
      await page.evaluate(() => client("/report.json", { retry: false }).catch(() => {}) && undefined);
      await page.getByText("You are offline, 1 waiting").waitFor();
      await context.setOffline(false);
      await until(() => banner.isHidden());
      await page.evaluate(async () => {
        for (let i = 0; i < 5; i++)
          await client("/report.json", { retry: false, onCircuitOpen: "reject" }).catch(() => {});
      });
      await page.getByText(`${server.url} has problems`).waitFor();
    },
  },

  "guide/key.ts": {
    title: "gives the search a circuit of its own",
    steps: { "/search": 503, [REPORT]: 200 },
    async run({ page, server }) {
      const outcome = await page.evaluate(async () => {
        const { fetch } = await import("/examples/guide/key.js");
        for (let i = 0; i < 5; i++) await fetch("/search?q=a", { retry: false });
        const search = await fetch("/search?q=b").catch(({ name }) => name);
        const { status } = await fetch("/report.json");
        return [search, status, [...fetch.circuits].map(({ key, status }) => `${key} ${status}`).sort()];
      });
      const circuits = [`${server.url} closed`, `${server.url}/search open`];
      assert.deepEqual(outcome, ["CircuitOpenError", 200, circuits]);
    },
  },

  "guide/cors.http": {
    title: "is what a page needs to see the Retry-After of another origin",
    async run({ page, server, header }) {
      const [field, value] = header("guide/cors.http");
      const step = (headers) => [{ status: 503, retryAfter: 30, headers }, 200];
      server.script("/told", step({ [field]: value }));
      server.script("/hidden", step({}));
      const source = (path) =>
        page.evaluate(async (url) => {
          const { createFetch } = await import("steadfetch");
          const call = createFetch().start(url);
          const found = await new Promise((resolve) =>
            call.subscribe((state) => state.status === "waiting" && resolve(state.source)),
          );
          call.cancel();
          return found;
        }, server.origin2 + path);
      assert.deepEqual([await source("/told"), await source("/hidden")], ["retry-after", "backoff"]);
    },
  },

  "guide/body.ts": {
    title: "asks again for a body that broke off",
    steps: { [REPORT]: ["reset-body", hello] },
    async run({ run, logs, hits }) {
      await run("guide/body");
      assert.deepEqual(logs, ["hello"]);
      assert.equal(hits(REPORT).length, 2);
    },
  },

  "guide/upload.js": {
    title: "sends the whole stream again",
    in: "node",
    steps: { "/upload": [503, 201] },
    async run({ load, server, hits }) {
      const { upload } = await load("guide/upload.js");
      const open = () => new Blob(["all of it"]).stream();
      assert.equal((await upload(`${server.url}/upload`, open)).status, 201);
      assert.deepEqual(
        hits("/upload").map(({ text }) => text),
        Array(2).fill("all of it"),
      );
    },
  },

  "guide/outbox.ts": {
    title: "keeps what is sent with the client of the page",
    steps: { "/comments": 201 },
    async run({ page, sent }) {
      const status = await page.evaluate(async () => {
        const { outbox } = await import("/examples/guide/outbox.js");
        const entry = await outbox.send("/comments", { method: "POST", body: "hello", meta: { text: "hello" } });
        return (await entry.response).status;
      });
      assert.equal(status, 201);
      assert.deepEqual(sent("/comments"), ["POST hello"]);
    },
  },

  "guide/outbox-form.ts": [
    {
      title: "shows what was posted offline as pending, until it is delivered",
      html: FORM,
      steps: { "/comments": 201 },
      async run({ run, page, context, sent, until }) {
        await run("guide/outbox-form");
        // What it loads when it is first used is here before the network goes.
        await page.evaluate(async () => (await import("/examples/guide/client.js")).fetch.ready());
        await context.setOffline(true);
        await page.locator("[name=text]").fill("hello");
        await page.getByRole("button").click();
        await page.getByText("hello: offline").waitFor();
        assert.equal(await page.locator("[name=text]").inputValue(), "");
        assert.deepEqual(sent("/comments"), []);
        await context.setOffline(false);
        await until(async () => (await page.locator("#pending li").count()) === 0);
        assert.deepEqual(sent("/comments"), ["POST hello"]);
      },
    },
    {
      title: "keeps in the form what could not be stored, and says why",
      html: FORM,
      async run({ run, page }) {
        await run("guide/outbox-form");
        await page.evaluate(async () => (await import("/examples/guide/outbox.js")).outbox.dispose());
        await page.locator("[name=text]").fill("hello");
        await page.getByRole("button").click();
        await page.getByText("Not stored: disposed").waitFor();
        assert.equal(await page.locator("[name=text]").inputValue(), "hello");
      },
    },
  ],

  "guide/outbox-prepare.ts": {
    title: "adds the token of the moment to each attempt, and tries again where there is none",
    steps: { "/token": [401, { body: "one" }, { body: "two" }], "/comments": [503, 201] },
    async run({ page, hits }) {
      const status = await page.evaluate(async () => {
        const { outbox } = await import("/examples/guide/outbox-prepare.js");
        const headers = { Authorization: "Bearer of then" };
        const entry = await outbox.send("/comments", { method: "POST", body: "hello", headers });
        return (await entry.response).status;
      });
      assert.equal(status, 201);
      assert.deepEqual(
        hits("/comments").map(({ headers }) => headers.authorization),
        ["Bearer one", "Bearer two"],
      );
    },
  },

  "guide/outbox-refused.ts": [
    {
      title: "shows what was refused and why, and sends it again on a click",
      html: '<ul id="refused"></ul>',
      steps: { "/comments": [{ status: 422, body: "No such article" }, 201] },
      async run({ run, page, sent, until }) {
        await run("guide/outbox-refused");
        await postFrom(page);
        await page.getByText("hello: refused").waitFor();
        await page.getByText("No such article").waitFor();
        await page.getByRole("button", { name: "Send again" }).click();
        await until(() => sent("/comments").length === 2);
        await until(async () => (await page.locator("#refused li").count()) === 0);
      },
    },
    {
      title: "forgets it on another",
      html: '<ul id="refused"></ul>',
      steps: { "/comments": 422 },
      async run({ run, page, sent, until }) {
        await run("guide/outbox-refused");
        await postFrom(page);
        await page.getByRole("button", { name: "Discard" }).click();
        await until(async () => (await page.locator("#refused li").count()) === 0);
        assert.equal(sent("/comments").length, 1);
      },
    },
    {
      title: "sends again after a log-in what was refused for want of one, and nothing else",
      html: '<ul id="refused"></ul>',
      steps: { "/comments": [401, 422, 201] },
      async run({ run, page, sent, until }) {
        await run("guide/outbox-refused");
        await postFrom(page, "first");
        await postFrom(page, "second");
        await page.getByText("second: refused").waitFor();
        await page.evaluate(async () => (await import("/examples/guide/outbox-refused.js")).loggedIn());
        // It leaves the list as soon as it is to be sent.
        await until(() => sent("/comments").length === 3);
        await until(async () => (await page.locator("#refused li").count()) === 1);
        assert.deepEqual(sent("/comments"), ["POST first", "POST second", "POST first"]);
      },
    },
  ],

  "guide/outbox-sw.ts": {
    title: "delivers in a service worker what a page left behind",
    steps: { "/comments": 201 },
    async run({ page, tab, context, server, sent, until }) {
      await page.evaluate(async () => {
        await navigator.serviceWorker.register("/sw.js");
        await navigator.serviceWorker.ready;
        globalThis.outbox = (await import("/examples/guide/outbox.js")).outbox;
      });
      await context.setOffline(true);
      await page.evaluate(() => outbox.send("/comments", { method: "POST", body: "hello" }).then(() => {}));
      assert.deepEqual(sent("/comments"), []);
      await page.close();
      await context.setOffline(false);

      // The browser's own event, unless it has come already.
      const session = await context.newCDPSession(await tab("/"));
      const registered = new Promise((resolve) => {
        session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [first] }) => first && resolve(first));
      });
      await session.send("ServiceWorker.enable");
      const { registrationId } = await registered;
      const event = { origin: server.url, registrationId, tag: "steadfetch-outbox default", lastChance: false };
      await session.send("ServiceWorker.dispatchSyncEvent", event);
      await until(() => sent("/comments").length === 1);
    },
  },

  "guide/outbox-tabs.ts": {
    title: "tells in each tab what another has sent",
    html: BADGE,
    steps: { "/comments": 201 },
    async run({ run, page, tab }) {
      const other = await tab("/", BADGE);
      await run("guide/outbox-tabs");
      await run("guide/outbox-tabs", { where: other });
      await postFrom(other);
      for (const each of [page, other]) {
        await each.getByText("Sent: hello").waitFor();
        await each.getByText("All is sent").waitFor();
      }
    },
  },

  "guide/outbox-server.js": {
    title: "does once what has the same key, and says while it is at work that it is",
    in: "node",
    async run({ load, listen }) {
      const { server, comments } = await load("guide/outbox-server.js");
      const url = await listen(server);
      const post = async (key, body) => {
        const headers = key && { "Idempotency-Key": key };
        const response = await fetch(url, { method: "POST", body, headers });
        return `${response.status} ${await response.text()}`;
      };
      const both = await Promise.all([post("a", "hello"), post("a", "hello")]);
      assert.deepEqual(both.sort(), ["201 comment 1", "409 Still at work on it"]);
      assert.equal(await post("a", "hello"), "201 comment 1");
      assert.match(await post("a", "other"), /^422 /);
      assert.match(await post(undefined, "hello"), /^400 /);
      assert.equal(await post("b", "hello"), "201 comment 2");
      assert.deepEqual(comments, ["hello", "hello"]);
    },
  },

  "guide/outbox-test.mjs": {
    title: "passes under node:test",
    in: "shell",
    files: { "outbox.test.mjs": "guide/outbox-test.mjs" },
    async run({ shell, run }) {
      await shell("install.sh");
      const { stdout } = await run("node", "--test", "--test-reporter=tap");
      assert.match(stdout, /^ok 1 - a comment survives its page, and has the same key on every attempt$/m);
      assert.match(stdout, /^# pass 1$/m);
    },
  },

  "guide/node-test.mjs": {
    title: "passes under node:test",
    in: "shell",
    files: { "report.test.mjs": "guide/node-test.mjs" },
    async run({ shell, run }) {
      await shell("install.sh");
      const { stdout } = await run("node", "--test", "--test-reporter=tap");
      assert.match(stdout, /^ok 1 - the report comes after an outage$/m);
      assert.match(stdout, /^# pass 1$/m);
    },
  },

  "guide/playwright.js": {
    title: "answers in the place of the network",
    async run({ page, load, hits }) {
      const { breakReport } = await load("guide/playwright.js");
      const script = await breakReport(page);
      const text = await page.evaluate(async () => {
        const { createFetch } = await import("steadfetch");
        return (await createFetch()("/report.json")).text();
      });
      assert.equal(text, "hello");
      assert.equal(script.requests.length, 3);
      assert.equal(hits(REPORT).length, 0);
    },
  },
};
