// How the examples of the READMEs are run, and what each has to show. Nothing here but the examples' own names: the check
// of the documents reads them too.

import assert from "node:assert/strict";

const REPORT = "/report.json";
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const failing = (times, ...then) => [...Array(times).fill(503), ...then];
/** A server that says for how long it is down: the wait is there to be looked at. */
const DOWN_THEN = (...then) => [{ status: 503, retryAfter: 30 }, ...then];
const hello = { body: "hello" };

/** Sends that many calls of their own by a client of the page that the example then takes. */
const prepare = ({ page }, times, options) =>
  page.evaluate(
    async ([times, options]) => {
      const { createFetch } = await import("steadfetch");
      globalThis.prepared = createFetch(options);
      for (let i = 0; i < times; i++) await prepared("/report.json", { retry: false });
    },
    [times, options],
  );

/** A call over a client whose calls have failed so often before. */
const refused = (title, { before, says }) => ({
  title,
  at: "/shared",
  steps: { [REPORT]: 503 },
  async run(lab) {
    await prepare(lab, before);
    await lab.run("refused");
    assert.deepEqual(lab.logs, [says]);
    assert.equal(lab.hits(REPORT).length, 5);
  },
});

export const readme = {
  "first-call.ts": {
    title: "tries again after a 503, and has the answer",
    steps: { [REPORT]: [503, hello] },
    async run({ run, logs, sent }) {
      await run("first-call");
      assert.deepEqual(logs, ["200 hello"]);
      assert.deepEqual(sent(REPORT), ["GET", "GET"]);
    },
  },

  "refused.ts": [
    refused("where calls before have failed, says that nothing was sent", {
      before: 5,
      says: "not sent, because calls before this one failed",
    }),
    refused("where its own failure opens the circuit, says what the server answered", {
      before: 4,
      says: "sent, and then: 503",
    }),
  ],

  "countdown.ts": [
    {
      title: "counts down, sends on a click, and has the text",
      html: '<p id="status"></p><button id="cancel"></button><button id="retry"></button>',
      steps: { [REPORT]: DOWN_THEN(hello) },
      async run({ run, page, said, sent }) {
        await run("countdown");
        await page.getByText(/^waiting (3\d|2\d) s$/).waitFor();
        await page.locator("#retry").click();
        await said("hello");
        assert.equal(await page.locator("#status").textContent(), "success");
        assert.deepEqual(sent(REPORT), ["GET", "GET"]);
      },
    },
    {
      title: "is cancelled by a click, and begun anew by another",
      html: '<p id="status"></p><button id="cancel"></button><button id="retry"></button>',
      steps: { [REPORT]: ["stall", hello] },
      async run({ run, page, said }) {
        await run("countdown");
        await page.locator("#cancel").click();
        await page.getByText("cancelled").waitFor();
        await page.locator("#retry").click();
        await said("hello");
      },
    },
  ],

  "iterate.ts": {
    title: "sees each state, to the end",
    steps: { [REPORT]: [503, 200] },
    async run({ run, logs }) {
      await run("iterate");
      const told = logs.filter((status, i) => status !== logs[i - 1]);
      assert.deepEqual(told, ["loading", "waiting", "loading", "success"]);
    },
  },

  "element.ts": {
    title: "asks before it cancels",
    steps: { [REPORT]: ["stall"] },
    async run({ run, page, hits, until }) {
      const asked = [];
      page.on("dialog", (dialog) => {
        asked.push(dialog.message());
        return asked.length === 1 ? dialog.dismiss() : dialog.accept();
      });
      await run("element");
      const cancel = page.getByRole("button", { name: "Cancel" });
      const status = () => page.locator("steadfetch-status").getAttribute("status");
      await cancel.click();
      assert.equal(await status(), "loading");
      await cancel.click();
      await until(async () => (await status()) === "cancelled");
      assert.deepEqual(asked, Array(2).fill("Do without the report?"));
      assert.equal(hits(REPORT).length, 1);
    },
  },

  "hooks.ts": {
    title: "renews the token once and sends again with it, to its own server only",
    async run({ run, page, server, logs, sent }) {
      server.script("/account", (hit) => (hit.headers.authorization === "Bearer new" ? 200 : 401));
      server.script("/token", { body: "new" });
      // Its server has another name; what is asked there is asked of ours.
      await page.route("https://api.example/**", async (route) => {
        const { pathname } = new URL(route.request().url());
        await route.fulfill({ response: await route.fetch({ url: server.url + pathname }) });
      });
      await run("hooks");
      assert.deepEqual(logs, ["200"]);
      assert.deepEqual(
        server.hits("/account").map(({ headers }) => headers.authorization),
        ["Bearer old", "Bearer new"],
      );
      assert.deepEqual(sent("/token"), ["POST"]);
      assert.equal(server.hits("/token")[0].headers.authorization, undefined);
    },
  },

  "cancel.ts": Object.entries({ "an attempt": "stall", "a wait": { status: 503, retryAfter: 30 } }).map(
    ([where, step]) => ({
      title: `ends ${where}, with the value that abort() was given`,
      steps: { [REPORT]: step },
      async run({ run, logs, hits }) {
        await run("cancel");
        assert.deepEqual(logs, ["cancelled: too slow"]);
        assert.equal(hits(REPORT).length, 1);
      },
    }),
  ),

  "write.ts": {
    title: "sends the same key again",
    steps: { "/orders": [503, 201] },
    async run({ run, logs, hits, sent }) {
      await run("write");
      assert.deepEqual(logs, ["201"]);
      assert.deepEqual(sent("/orders"), Array(2).fill('POST {"item":7}'));
      const [first, second] = hits("/orders").map(({ headers }) => headers["idempotency-key"]);
      assert.match(first, UUID);
      assert.equal(second, first);
    },
  },

  "outbox.ts": [
    {
      title: "stores the comment, sends it until the server has it, and has the answer",
      steps: { "/comments": [503, 201] },
      async run({ run, logs, hits, sent }) {
        await run("outbox");
        assert.ok(logs.includes("my comment is sending"), logs.join());
        assert.ok(logs.indexOf("stored") < logs.indexOf("201"), logs.join());
        assert.deepEqual(sent("/comments"), ["POST Well done", "POST Well done"]);
        const [first, second] = hits("/comments").map(({ headers }) => headers["idempotency-key"]);
        assert.match(first, UUID);
        assert.equal(second, first);
      },
    },
    {
      title: "sends after a reload what was stored before",
      steps: { "/comments": [{ status: 503, retryAfter: 1 }, 201] },
      async run({ run, page, said, sent, logs, until }) {
        run("outbox").catch(() => {}); // its page goes meanwhile
        await said("my comment is waiting");
        await page.reload();
        logs.length = 0;
        await page.evaluate(async () => {
          const { createFetch } = await import("steadfetch");
          const { createOutbox } = await import("steadfetch/outbox");
          createOutbox(createFetch());
        });
        await until(() => sent("/comments").length === 2);
        assert.deepEqual(sent("/comments"), ["POST Well done", "POST Well done"]);
      },
    },
    {
      title: "tells what was refused",
      steps: { "/comments": 422 },
      async run({ run, said, logs }) {
        await run("outbox");
        await said("my comment was refused");
        assert.ok(logs.includes("422"), logs.join());
      },
    },
  ],

  "beacon.ts": {
    title: "sends while its page goes",
    steps: { "/left": 204 },
    async run({ run, page, server, hits, until }) {
      await run("beacon");
      await page.goto(`${server.origin2}/`);
      await until(() => hits("/left")[0]?.text);
      assert.equal(hits("/left")[0].method, "POST");
      assert.ok(Math.abs(JSON.parse(hits("/left")[0].text).at - Date.now()) < 60_000);
    },
  },

  "offline.ts": {
    title: "says that there is no network, and sends nothing",
    async run({ run, page, context, logs, hits }) {
      await page.evaluate(() => import("steadfetch").then(({ createFetch }) => createFetch().ready()));
      await context.setOffline(true);
      await run("offline", { fetched: false });
      assert.deepEqual(logs, ["No network"]);
      assert.equal(hits(REPORT).length, 0);
    },
  },

  "circuits.ts": {
    title: "tells the circuits, and leaves none held",
    at: "/shared",
    steps: { [REPORT]: 200 },
    async run({ run, server, page, logs }) {
      await run("circuits");
      assert.deepEqual(logs, [`${server.url} closed 0 ms left`]);
      assert.deepEqual(await page.evaluate(() => [...client.circuits].map(({ status }) => status)), [
        "closed",
        "closed",
      ]);
    },
  },

  "tabs.ts": {
    title: "opens the circuit of another tab",
    steps: { [REPORT]: 503 },
    async run({ run, tab, logs, hits, until }) {
      const other = await tab("/");
      await other.evaluate(async () => {
        const { createFetch } = await import("steadfetch");
        globalThis.client = createFetch({ breaker: { share: "tabs" } });
        await client.ready();
      });
      await run("tabs");
      assert.deepEqual(logs, ["503"]);
      await until(() => other.evaluate(() => [...client.circuits].some(({ status }) => status === "open")));
      const refused = await other.evaluate(() => client("/report.json").catch(({ name }) => name));
      assert.equal(refused, "CircuitOpenError");
      assert.equal(hits(REPORT).length, 5);
    },
  },

  "reload.ts": {
    title: "takes the outage over a reload",
    at: "/shared",
    steps: { [REPORT]: 503 },
    async run({ run, page, hits }) {
      const call = () => page.evaluate(() => client("/report.json").then(String, ({ name }) => name));
      await run("reload");
      await call();
      await page.reload();
      await run("reload");
      assert.equal(await call(), "CircuitOpenError");
      assert.equal(hits(REPORT).length, 5);
    },
  },

  "options.ts": {
    title: "takes the options of the client in its child",
    at: "/shared",
    steps: { [REPORT]: [503, 200] },
    async run({ run, page, server, hits }) {
      await run("options");
      const [first, second] = hits(REPORT);
      // Half of 400 ms at least, which is what "equal" says; the attempt before took some of the time.
      assert.ok(second.at - first.answeredAt >= 199, `${second.at - first.answeredAt} ms`);
      assert.equal(await page.evaluate((url) => client.circuits.get(url).calls, server.url), 2);
    },
  },

  "errors.ts": [
    {
      title: "tells a status",
      steps: { [REPORT]: { status: 404, body: "not here" } },
      async run({ run, logs }) {
        await run("errors");
        assert.deepEqual(logs, ["status 404 not here"]);
      },
    },
    {
      title: "tells a success",
      steps: { [REPORT]: [503, hello] },
      async run({ run, logs }) {
        await run("errors");
        assert.deepEqual(logs, ["hello"]);
      },
    },
    {
      title: "tells an open circuit",
      at: "/shared",
      steps: { [REPORT]: 503 },
      async run(lab) {
        await prepare(lab, 5);
        await lab.run("errors");
        assert.match(lab.logs.join(), new RegExp(`^${lab.server.url} is open until \\d{13}$`));
      },
    },
    {
      title: "tells a limit",
      clock: true,
      steps: { [REPORT]: "stall" },
      async run({ run, page, hits, said, until }) {
        const over = run("errors");
        over.catch(() => {}); // what goes wrong before is told instead
        for (let attempt = 1; attempt <= 5; attempt++) {
          await until(() => hits(REPORT).length === attempt);
          await page.clock.runFor(attempt < 5 ? 32_000 : 31_000);
        }
        await said("attempt took longer than 30000 ms");
        await over;
      },
    },
    {
      title: "tells that the network is gone",
      at: "/shared",
      async run({ run, page, context, logs }) {
        await page.evaluate(async () => {
          const { createFetch } = await import("steadfetch");
          globalThis.prepared = createFetch({ onOffline: "reject" });
          await prepared.ready();
        });
        await context.setOffline(true);
        await run("errors", { fetched: false });
        assert.deepEqual(logs, ["offline"]);
      },
    },
    {
      title: "tells that no answer came",
      steps: { [REPORT]: "refuse" },
      async run({ run, logs }) {
        await run("errors");
        assert.match(logs.join(), /^no answer, cancelled, or not a valid request: TypeError/);
      },
    },
  ],

  "events.ts": {
    title: "tells each change, the wait and the counts",
    steps: { [REPORT]: [503, 200] },
    async run({ run, server, logs }) {
      await run("events");
      const from = (line) => logs.filter((log) => log.startsWith(line));
      assert.deepEqual(
        from(`GET ${server.url}${REPORT} `).map((log) => log.split(" ").slice(2).join(" ")),
        ["idle -> loading", "loading -> waiting", "waiting -> loading", "loading -> success"],
      );
      assert.match(from("next attempt in").join(), /^next attempt in \d+(\.\d+)? ms$/);
      assert.ok(logs.some((log) => /loading: 0, waiting: 1, offline: 0, queued: 0, nextRetryAt: \d{13}/.test(log)));
    },
  },

  "inspector.ts": [
    {
      title: "shows nothing where it is not wanted",
      async run({ run, page }) {
        await run("inspector");
        assert.equal(await page.locator("body > *").count(), 0);
      },
    },
    {
      title: "shows the calls where it is",
      at: "/?inspect",
      steps: { [REPORT]: DOWN_THEN(200) },
      async run({ run, page }) {
        await run("inspector");
        await page.evaluate(async () => {
          const { client } = await import("/examples/inspector.js");
          client("/report.json").catch(() => {});
        });
        await page.getByRole("button", { name: "Cancel" }).waitFor();
        await page.evaluate(async () => (await import("/examples/inspector.js")).client.dispose());
      },
    },
  ],

  "page.html": {
    title: "is the page of the README, which sends on a click",
    /** The example and what it loads, in a folder as the text says: the modules beside it, the package in node_modules. */
    async run({ page, server, said, hits }) {
      server.script(REPORT, DOWN_THEN(hello));
      await page.goto(`${server.url}/app/`);
      await page.locator("#text", { hasText: /^Trying again in (3\d|2\d) s$/ }).waitFor();
      await page.locator("#live", { hasText: /^Trying again in \d+ s$/ }).waitFor();
      await page.getByRole("button", { name: "Try now" }).click();
      await said("hello");
      assert.equal(await page.locator("#text").textContent(), "Done");
      for (const id of ["again", "cancel"]) {
        assert.equal(await page.locator(`#${id}`).getAttribute("aria-disabled"), "true", id);
      }
      assert.equal(hits(REPORT).length, 2);
    },
  },
  "page.ts": {
    title: "cancels, and begins anew",
    async run({ page, server }) {
      server.script(REPORT, "stall");
      await page.goto(`${server.url}/app/`);
      await page.locator("#text", { hasText: "Loading, attempt 1 of 5" }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.locator("#text", { hasText: "Cancelled" }).waitFor();
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator("#text", { hasText: "Loading, attempt 1 of 5" }).waitFor();
    },
  },
  "element.html": {
    title: "shows the wait, and sends on a click",
    async run({ page, server, hits }) {
      server.script(REPORT, DOWN_THEN(hello));
      await page.goto(`${server.url}/app/element.html`);
      const headline = (hasText) => page.locator("[part=headline]", { hasText }).waitFor();
      await headline(/in (3\d|2\d) seconds/);
      await page.getByRole("button", { name: "Try now" }).click();
      await headline("Done");
      assert.equal(hits(REPORT).length, 2);
    },
  },

  "xstate.ts": [
    {
      title: "offers the copy after three waits",
      steps: { [REPORT]: failing(4, 503) },
      async run({ runBundled, page, until }) {
        await runBundled(`import { createActor } from "xstate"; import { report } from "./xstate";
          globalThis.seen = [];
          const actor = (globalThis.actor = createActor(report));
          actor.subscribe(({ value }) => seen.push(JSON.stringify(value)));
          actor.start();`);
        await until(() => page.evaluate(() => globalThis.seen?.includes('{"loading":"offersCopy"}')));
        assert.equal(
          await page.evaluate(() => {
            actor.send({ type: "useCopy" });
            return actor.getSnapshot().value;
          }),
          "copy",
        );
      },
    },
    {
      title: "shows the report, at once on a click",
      steps: { [REPORT]: DOWN_THEN(200) },
      async run({ runBundled, page, hits, until }) {
        await runBundled(`import { createActor } from "xstate"; import { report } from "./xstate";
          (globalThis.actor = createActor(report)).start();`);
        await until(() => hits(REPORT)[0]?.closed);
        await until(async () => {
          await page.evaluate(() => actor.send({ type: "tryNow" }));
          return page.evaluate(() => actor.getSnapshot().value === "shown");
        });
        assert.equal(hits(REPORT).length, 2);
      },
    },
  ],

  "rxjs.ts": {
    title: "has every state until the end, and cancels what is left",
    in: "node",
    steps: { [REPORT]: [503, 200], "/stall": "stall" },
    async run({ load, server, until }) {
      const { states, waiting } = await load("rxjs.ts");
      const counts = [];
      const counting = waiting.subscribe((count) => counts.push(count));
      const told = [];
      await states(server.url + REPORT).forEach(({ status }) => told.at(-1) !== status && told.push(status));
      counting.unsubscribe();
      assert.deepEqual(told, ["loading", "waiting", "loading", "success"]);
      assert.ok(counts.includes(1), `${counts}`);

      const leaving = states(`${server.url}/stall`).subscribe();
      await until(() => server.hits("/stall").length === 1);
      leaving.unsubscribe();
      await until(() => server.hits("/stall")[0].aborted);
    },
  },

  "testing.ts": {
    title: "is told as its comment says",
    in: "node",
    async run({ load, source }) {
      const [, told] = source("testing.ts").match(/\/\/ told: "(.*)"/);
      const { outage } = await load("testing.ts");
      assert.deepEqual(await outage(), { told, sent: 4 });
    },
  },

  "install.sh": {
    title: "installs the package, which Node then finds",
    in: "shell",
    async run({ shell, run }) {
      await shell("install.sh");
      const look =
        'import { createFetch } from "steadfetch"; console.log(typeof createFetch, import.meta.resolve("steadfetch"))';
      const { stdout } = await run("node", "--input-type=module", "--eval", look);
      assert.match(stdout, /^function file:.*\/target\/shell\/\d+\/node_modules\/steadfetch\/dist\/index\.js$/m);
    },
  },
};
