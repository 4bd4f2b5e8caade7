// The inspector, on a client of the packed package.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, beforeEach, describe, test } from "node:test";
import { launch } from "./support/browser.mjs";
import { packageFiles } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let server;
let page;
let faults;
before(async () => {
  server = await startServer({ files: await packageFiles() });
});
after(() => server?.close());

beforeEach((t) => open(t));

async function open(t, how) {
  const context = await (await launch()).newContext(how);
  context.setDefaultTimeout(20_000);
  page = await context.newPage();
  faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  await page.goto(server.url);
  await page.evaluate(async () => {
    const { createFetch } = await import("steadfetch");
    const { inspect } = await import("steadfetch/devtools");
    document.body.append(document.createElement("main"));
    globalThis.client = createFetch({
      retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" },
      onCircuitOpen: "wait",
    });
    globalThis.leave = inspect(globalThis.client, { target: document.querySelector("main") });
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });
}

const panel = () => page.locator("main > div");
const section = (name) => panel().getByRole("region", { name });
const click = (name) => panel().getByRole("button", { name, exact: true }).click();
const start = (path) =>
  page.evaluate((url) => {
    globalThis.call = globalThis.client.start(url);
    globalThis.call.response.catch(() => {});
  }, server.url + path);

describe("the inspector", () => {
  test("lists a call with its attempts and waits", async () => {
    server.script("/a", [503, 200]);
    await start("/a?token=secret");
    await section("Calls").getByText("waits 60000 ms (backoff), 60 s left").waitFor();
    assert.match(await section("Calls").textContent(), /#1GET 127\.0\.0\.1:\d+\/a/);
    assert.doesNotMatch(await section("Calls").textContent(), /secret/);
    assert.deepEqual(
      await panel()
        .locator(".track span")
        .evaluateAll((bars) => bars.map((bar) => [bar.className, bar.title])),
      [
        ["loading", "attempt 1 of 5"],
        ["waiting", "waits 60000 ms (backoff)"],
      ],
    );
  });

  test("lists a call that was under way before it", async () => {
    server.script("/before", [503, 200]);
    await page.evaluate((url) => {
      globalThis.leave();
      void globalThis.client(url).catch(() => {});
    }, `${server.url}/before`);
    await page.waitForFunction(() => globalThis.client.getSnapshot().waiting);
    await page.evaluate(async () => {
      const { inspect } = await import("steadfetch/devtools");
      globalThis.leave = inspect(globalThis.client, { target: document.querySelector("main") });
    });
    await section("Calls")
      .getByText(/^waits 60000 ms \(backoff\), \d+ s left$/)
      .waitFor();
    await click("Try now");
    await section("Calls").getByText("success: 200").waitFor();
  });

  test("Try now ends a wait", async () => {
    server.script("/b", [503, 200]);
    await start("/b");
    await click("Try now");
    await section("Calls").getByText("success: 200").waitFor();
    assert.equal(server.hits("/b").length, 2);
  });

  test("Cancel gives a call up, and Retry begins it anew", async () => {
    server.script("/c", ["stall", 200]);
    await start("/c");
    await click("Cancel");
    await section("Calls").getByText("cancelled").waitFor();
    await click("Retry");
    await section("Calls").getByText("success: 200").waitFor();
  });

  test("acts on a plain fetch as well", async () => {
    server.script("/d", [503, 200]);
    const status = page.evaluate(async (url) => (await globalThis.client(url)).status, `${server.url}/d`);
    await click("Try now");
    assert.equal(await status, 200);
  });

  test("shows a circuit with its window, holds it open, lets it go and resets it", async () => {
    server.script("/e", [200, 500]);
    await start("/e");
    await section("Circuits").getByText("0 % of 1 in the window failed, 0 in a row").waitFor();
    await click("Hold open");
    await section("Circuits").getByText("isolated").waitFor();
    await start("/e");
    await section("Calls").getByText("circuit-open").first().waitFor();
    assert.equal(server.hits("/e").length, 1);
    await click("Let go");
    await until(() => server.hits("/e").length === 2);
    await section("Circuits").getByText("in the window failed, 1 in a row").waitFor();
    await click("Reset");
    await section("Circuits").getByText("0 % of 0 in the window failed, 0 in a row").waitFor();
  });

  test("shows what a budget has left", async () => {
    server.script("/f", [503]);
    await section("Budgets").getByText("All are full.").waitFor();
    await start("/f");
    await section("Budgets").getByText("9 tokens").waitFor();
  });

  test("forces offline, and ends it when it is taken away", async () => {
    server.script("/g", [200]);
    await panel().getByLabel("Pretend to be offline").check();
    await start("/g");
    await section("Calls").getByText("offline").waitFor();
    assert.equal(server.hits("/g").length, 0);
    await page.evaluate(() => globalThis.leave());
    await until(() => server.hits("/g").length === 1);
    assert.equal(await page.evaluate(() => navigator.onLine), true);
    assert.equal(await panel().count(), 0);
  });

  test("lets go of what it holds when it is taken away, and hears no more", async () => {
    server.script("/h", [200]);
    await start("/h");
    await click("Hold open");
    await page.evaluate(() => globalThis.leave());
    assert.deepEqual(await page.evaluate(() => globalThis.client.circuits.getSnapshot().map(({ status }) => status)), [
      "closed",
    ]);
  });

  test("leaves the page time for other things, however many calls there are", async () => {
    server.script("/many", ["stall"]);
    const shown = await page.evaluate(async (url) => {
      const controller = new AbortController();
      for (let i = 0; i < 300; i++) {
        globalThis.client.start(`${url}?${i}`, { signal: controller.signal });
        await new Promise((resolve) => setTimeout(resolve));
      }
      const panel = document.querySelector("main > div").shadowRoot;
      let draws = 0;
      new MutationObserver(() => draws++).observe(panel, { subtree: true, childList: true });
      const begun = performance.now();
      const calls = globalThis.client.calls();
      for (const call of calls) {
        call.cancel();
        await new Promise((resolve) => setTimeout(resolve));
      }
      // Each tenth of a second at most, and each quarter as time passes.
      const most = 2 + (performance.now() - begun) / 70;
      return { calls: calls.length, few: draws <= most, rows: panel.querySelectorAll("section tr").length };
    }, `${server.url}/many`);
    // With one circuit and no budget.
    assert.deepEqual(shown, { calls: 300, few: true, rows: 51 });
    await section("Calls").getByText("250 older ones are not shown.").waitFor();
  });

  test("shows what happened while its page was hidden", async () => {
    server.script("/hidden", [200]);
    await page.evaluate(async (url) => {
      const hidden = (is) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
        document.dispatchEvent(new Event("visibilitychange"));
      };
      hidden(true);
      await globalThis.client(url);
      await new Promise((resolve) => setTimeout(resolve, 300));
      hidden(false);
    }, `${server.url}/hidden`);
    await section("Calls").getByText("success: 200").waitFor();
  });

  test("two of them are offline until neither pretends to be", async () => {
    const online = await page.evaluate(async () => {
      const { inspect } = await import("steadfetch/devtools");
      const other = document.body.appendChild(document.createElement("aside"));
      const leave = inspect(globalThis.client, { target: other });
      const [first, second] = ["main", "aside"].map((name) =>
        document.querySelector(`${name} > div`).shadowRoot.querySelector("input"),
      );
      let events = 0;
      for (const type of ["online", "offline"]) addEventListener(type, () => events++);
      const seen = [];
      for (const act of [
        () => first.click(),
        () => second.click(),
        () => second.click(),
        leave,
        leave,
        globalThis.leave,
      ]) {
        act();
        seen.push(navigator.onLine);
      }
      return [...seen, events];
    });
    assert.deepEqual(online, [false, false, false, false, false, true, 4]);
  });

  test("has no circuits once the client is disposed of", async () => {
    server.script("/over", [503]);
    await start("/over");
    await section("Circuits").getByText("Hold open").waitFor();
    await page.evaluate(() => globalThis.client.dispose());
    await section("Circuits").getByText("None yet.").waitFor();
  });

  test("is dressed in another document, too", async () => {
    const display = await page.evaluate(async () => {
      const { inspect } = await import("steadfetch/devtools");
      const frame = document.body.appendChild(document.createElement("iframe"));
      const leave = inspect(globalThis.client, { target: frame.contentDocument.body });
      const bar = frame.contentDocument.querySelector("div").shadowRoot.querySelector(".bar");
      const { display } = frame.contentWindow.getComputedStyle(bar);
      leave();
      return display;
    });
    assert.equal(display, "flex");
  });

  test("lists what is no request at all", async () => {
    await page.evaluate(() => globalThis.client("http://").catch(() => {}));
    await section("Calls").getByText("failed: invalid-request").waitFor();
    assert.match(await section("Calls").textContent(), /#1no request/);
  });

  test("a button keeps the focus while the panel moves", async () => {
    server.script("/i", ["stall"]);
    await start("/i");
    await panel().getByRole("button", { name: "Cancel" }).focus();
    await page.waitForTimeout(700);
    await page.keyboard.press("Enter");
    await section("Calls").getByText("cancelled").waitFor();
  });

  test("a press that lasts longer than a redraw is a click", async () => {
    server.script("/j", ["stall"]);
    await start("/j");
    await panel().getByRole("button", { name: "Cancel" }).hover();
    await page.mouse.down();
    await page.waitForTimeout(700);
    await page.mouse.up();
    await section("Calls").getByText("cancelled").waitFor();
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing in it, ${colorScheme}`, async (t) => {
      await open(t, { colorScheme });
      server.script("/k", [503]);
      await start("/k");
      await section("Budgets").getByText("9 tokens").waitFor();
      await page.evaluate(axe);
      const found = await page.evaluate(async () => (await globalThis.axe.run("main")).violations.map(({ id }) => id));
      assert.deepEqual(found, []);
    });
  }
});
