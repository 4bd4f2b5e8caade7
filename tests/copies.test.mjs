// Two copies of the package on one page, as where its parts were built apart, be they of one version or of two.
import assert from "node:assert/strict";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { launch } from "./support/browser.mjs";
import { FIRST, LATER, SECOND, withCopies } from "./support/copies.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

const PATIENCE = { timeout: 60_000 };
const QUICK = { retry: { delay: 20, jitter: "none" } };
const SHARED = {
  retry: false,
  breaker: { share: "tabs", consecutiveFailures: 1, halfOpenAfter: 300_000, maxOpen: 300_000 },
};

let files;
let context;
let server;
let faults;

before(async () => {
  files = await withCopies(await packageFiles());
});

beforeEach(async () => {
  context = await (await launch()).newContext();
  server = await startServer({ files });
  faults = [];
});

afterEach(async () => {
  await context.close();
  await server.close();
  assert.deepEqual(faults, []);
});

/** A page with two copies as `one` and `other`. */
async function open(one = FIRST, other = SECOND) {
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(error.stack));
  page.on("console", (message) => message.type() === "warning" && faults.push(message.text()));
  await page.goto(server.url);
  await page.evaluate(
    async ([one, other]) => {
      globalThis.load = (copy, entry = "index") => import(`${copy}dist/${entry}.js`);
      globalThis.places = { one, other };
      Object.assign(globalThis, { one: await load(one), other: await load(other) });
      globalThis.native = fetch;
      globalThis.thrown = (promise) =>
        promise.then(
          () => undefined,
          (error) => error,
        );
      globalThis.reached = (call, status) =>
        new Promise((resolve) => call.subscribe((state) => state.status === status && resolve(state)));
    },
    [one, other],
  );
  return page;
}

for (const [how, second] of [
  ["of one version", SECOND],
  ["of two versions", LATER],
]) {
  describe(`two copies ${how}`, () => {
    test("know each other's errors", PATIENCE, async () => {
      server.script("/stalls", "stall");
      server.script("/down", 503);
      server.script("/up", 200);
      const page = await open(FIRST, second);
      await page.evaluate(async () => {
        globalThis.errorsOf = async ({ createFetch }) => {
          const client = createFetch({ retry: false, breaker: { consecutiveFailures: 1 } });
          const http = await thrown(client("/down", { throwHttpErrors: true }));
          const circuit = await thrown(client("/down"));
          return [circuit, http, await thrown(createFetch({ retry: false, timeout: 50 })("/stalls"))];
        };
        globalThis.offline = ({ createFetch }) => thrown(createFetch({ onOffline: "reject" })("/up"));
        /** Which guards of a copy know each error. */
        globalThis.known = (guards, errors) =>
          errors.map((error) => Object.keys(guards).filter((name) => name.startsWith("is") && guards[name](error)));
        globalThis.errors = [await errorsOf(one), await errorsOf(other)];
      });
      await context.setOffline(true);
      const known = await page.evaluate(async () => {
        const [first, second] = [
          [...errors[0], await offline(one)],
          [...errors[1], await offline(other)],
        ];
        return [known(other, first), known(one, second), first[0] instanceof other.CircuitOpenError];
      });
      const each = [["isCircuitOpenError"], ["isHttpError"], ["isTimeoutError"], ["isOfflineError"]];
      assert.deepEqual(known, [each, each, false]);
    });

    test("count their calls and keep their circuits apart", PATIENCE, async () => {
      server.script("/down", 503);
      const page = await open(FIRST, second);
      const value = await page.evaluate(async () => {
        const options = { retry: false, breaker: { consecutiveFailures: 2 } };
        const [a, b] = [one.createFetch(options), other.createFetch(options)];
        const ids = [a, a, b, a].map((client) => {
          const call = client.start("/down");
          return [call.id, call.then(({ status }) => status)];
        });
        await Promise.allSettled(ids.map(([, end]) => end));
        const circuits = [a, b].map((client) => client.circuits.getSnapshot().map(({ status }) => status));
        return { ids: ids.map(([id]) => id), circuits, b: (await b.start("/down").response).status };
      });
      assert.deepEqual(value, { ids: [1, 2, 1, 3], circuits: [["open"], ["closed"]], b: 503 });
    });

    test("both have the element, and that of the first shows calls of the second", PATIENCE, async () => {
      server.script("/x", [503, 200]);
      const page = await open(FIRST, second);
      const classes = await page.evaluate(async () => {
        const first = await load(places.one, "element");
        const second = await load(places.other, "element");
        document.body.innerHTML = "<steadfetch-status></steadfetch-status>";
        const element = document.querySelector("steadfetch-status");
        globalThis.call = other
          .createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } })
          .start("/x");
        element.call = call;
        return [element instanceof first.SteadfetchStatus, element instanceof second.SteadfetchStatus];
      });
      assert.deepEqual(classes, [true, false]);
      await page.locator('steadfetch-status[status="waiting"]').waitFor();
      await page.getByRole("button", { name: "Try now" }).click();
      assert.equal(await page.evaluate(async () => (await call).status), 200);
      await page.locator('steadfetch-status[status="success"]').waitFor();
    });

    test("the second can have its own element under another name", PATIENCE, async () => {
      server.script("/x", 503);
      const page = await open(FIRST, second);
      await page.evaluate(async () => {
        await load(places.one, "element");
        const { defineSteadfetchStatus, SteadfetchStatus } = await load(places.other, "element");
        defineSteadfetchStatus("other-status");
        const element = document.createElement("other-status");
        if (!(element instanceof SteadfetchStatus)) throw new Error("it is not of the second");
        document.body.append(element);
        element.client = one.createFetch({ retry: { delay: 60_000, backoffLimit: 60_000 } });
        element.client("/x").catch(() => {});
      });
      await page.locator('other-status[status="waiting"]').waitFor();
    });

    test("the inspector of one shows the client of the other", PATIENCE, async () => {
      server.script("/x", [503, 200]);
      const page = await open(FIRST, second);
      await page.evaluate(async () => {
        const { inspect } = await load(places.one, "devtools");
        document.body.append(document.createElement("main"));
        const client = other.createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } });
        inspect(client, { target: document.querySelector("main") });
        globalThis.call = client.start("/x");
      });
      const calls = page.locator("main > div").getByRole("region", { name: "Calls" });
      await calls.getByText("waits 60000 ms (backoff), 60 s left").waitFor();
      await page.getByRole("button", { name: "Try now", exact: true }).click();
      assert.equal(await page.evaluate(async () => (await call).status), 200);
    });

    test("one over the other, which has taken the place of fetch, sends what both would", PATIENCE, async () => {
      server.script("/x", [503, 503, { body: "hello" }]);
      const page = await open(FIRST, second);
      const text = await page.evaluate(async (quick) => {
        globalThis.fetch = one.createFetch(quick);
        return (await other.createFetch(quick)("/x")).text();
      }, QUICK);
      assert.equal(text, "hello");
      assert.equal(server.hits("/x").length, 3);
    });

    test("both in the place of fetch, one after the other, are no loop", PATIENCE, async () => {
      server.script("/x", [503, 200]);
      const page = await open(FIRST, second);
      const status = await page.evaluate(async () => {
        globalThis.fetch = one.createFetch({ retry: { delay: 1 } });
        globalThis.fetch = other.createFetch({ retry: { delay: 1 } });
        return (await fetch("/x")).status;
      });
      assert.equal(status, 200);
      assert.equal(server.hits("/x").length, 2);
    });

    test("one that is made before the other takes the place of fetch does not go through it", PATIENCE, async () => {
      server.script("/x", [503, 200]);
      const page = await open(FIRST, second);
      const seen = await page.evaluate(async (quick) => {
        const early = other.createFetch({ retry: false });
        globalThis.fetch = one.createFetch(quick);
        const states = [];
        fetch.addEventListener("statechange", ({ detail }) => states.push(detail.state.status));
        return [(await early("/x")).status, states];
      }, QUICK);
      // As with two clients of one copy: what both retry would be sent as often as their attempts multiplied.
      assert.deepEqual(seen, [503, []]);
    });

    test("what one is disposed of goes on in the other", PATIENCE, async () => {
      server.script("/x", [503, 503, 200]);
      const page = await open(FIRST, second);
      const value = await page.evaluate(async () => {
        const options = { retry: { delay: 300, jitter: "none" } };
        const [a, b] = [one.createFetch(options), other.createFetch(options)];
        const [gone, stays] = [a.start("/x"), b.start("/x")];
        await Promise.all([reached(gone, "waiting"), reached(stays, "waiting")]);
        a.dispose();
        return [(await thrown(gone.response)).name, (await stays).status, (await thrown(a("/x"))).name];
      });
      assert.deepEqual(value, ["AbortError", 200, "InvalidStateError"]);
    });

    test("what one has saved of an outage the other restores", PATIENCE, async () => {
      server.script("/down", 503);
      const page = await open(FIRST, second);
      const value = await page.evaluate(async () => {
        const options = { retry: false, breaker: { consecutiveFailures: 1 } };
        const saving = one.createFetch(options);
        await saving("/down");
        const client = other.createFetch(options, { restore: saving.snapshot() });
        const [{ key, status }] = client.circuits.getSnapshot();
        return [key, status, (await thrown(client("/down"))).name];
      });
      assert.deepEqual(value, [server.url, "open", "CircuitOpenError"]);
      assert.equal(server.hits("/down").length, 1);
    });
  });
}

/** Opens a circuit in one page, and gives what the copies of each page have of it in the end. */
async function shared(opening, pages) {
  server.script("/down", 503);
  server.script("/up", 200);
  const start = (page) =>
    page.evaluate((options) => {
      globalThis.clients = [one.createFetch(options), other.createFetch(options)];
    }, SHARED);
  for (const page of pages) await start(page);
  await opening.evaluate(() => clients[0]("/down"));
}

const heard = (page) =>
  page.evaluate(() =>
    clients.map((client) =>
      client.circuits
        .getSnapshot()
        .map(({ status }) => status)
        .join(),
    ),
  );

describe("circuits that tabs share", () => {
  test("are shared by copies of one version, on a page and between pages", PATIENCE, async () => {
    const pages = [await open(), await open(SECOND, FIRST)];
    await shared(pages[0], pages);
    await until(
      async () => (await Promise.all(pages.map(heard))).flat().join() === "open,open,open,open",
      "all to hear",
    );
    assert.equal(server.hits("/down").length, 1);
  });

  test("are not shared by copies that speak another language, which both go on alone", PATIENCE, async () => {
    const pages = [await open(FIRST, LATER), await open(SECOND, LATER)];
    await shared(pages[0], pages);
    await until(async () => (await heard(pages[1]))[0] === "open", "the copy of the same version to hear");
    await pages[0].waitForTimeout(300);
    assert.deepEqual(await Promise.all(pages.map(heard)), [
      ["open", ""],
      ["open", ""],
    ]);
    assert.equal(await pages[0].evaluate(async () => (await clients[1]("/down")).status), 503);
    await until(async () => (await heard(pages[1]))[1] === "open", "the other later copy to hear");
    assert.equal(server.hits("/down").length, 2);
  });
});
