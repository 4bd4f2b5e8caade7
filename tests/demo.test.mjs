// The demo page in Chromium, with the built package and its own misbehaving server.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { serve } from "../scripts/serve.mjs";
import { INSECURE_HOST } from "./support/browser.mjs";
import { serveBelow, visitDemo } from "./support/demo.mjs";

let site;
before(async () => {
  site = await serve();
});
after(() => site?.close());

/** A test on a page of its own. */
function demo(name, visit, options) {
  test(name, { timeout: 75_000 }, () => visitDemo(site.url, visit, options));
}

const SECONDS = "\\d+ s";
const QUICK = { delay: 250, jitter: "full" };
/** Five failures in a row, which open the circuit. */
const FIVE = { ...QUICK, fault: "500", times: "every" };
const numbers = (texts) => texts.flatMap((text) => text.match(/ in (\d+)/)?.[1] ?? []).map(Number);
const seconds = ([, , time]) => Number.parseFloat(time);

describe("the demo page", { concurrency: 6 }, () => {
  // ------------------------------------------------------------ every state has its sentence

  demo("says before the first load that there is nothing yet", async (page) => {
    assert.equal(await page.words(), "Nothing loaded yet Choose what the server does, then load the report.");
  });

  demo("says while it loads which attempt it is, and of how many", async (page) => {
    await page.load({ fault: "Slow" });
    await page.sees("Loading… (attempt 1 of 5)");
  });

  demo("says how long it waits, which attempt comes then, and why", async (page) => {
    await page.load({ fault: "503", times: "every", delay: 3000, jitter: "none", limit: 2 });
    await page.sees(new RegExp(`Trying again in ${SECONDS} \\(attempt 2 of 3\\) The server answered 503\\.$`));
    await page.button("Try now").click();
    await page.sees(new RegExp(`Trying again in ${SECONDS} \\(attempt 3 of 3\\) The server answered 503\\.$`));
  });

  demo("says at the next attempt what became of the last one", async (page) => {
    await page.load({ ...QUICK, fault: "503" });
    await page.sees("Loading… (attempt 2 of 5) Last time, the server answered 503.");
  });

  demo("says that the connection broke", async (page) => {
    await page.load({ fault: "Drops", delay: 3000 });
    await page.sees(/Trying again .*The connection broke\.$/);
  });

  demo("says how long it waited for an answer in vain", async (page) => {
    await page.load({ fault: "Stalls", delay: 3000, timeout: 2000 });
    await page.sees(/Trying again .*No answer within 2 s\.$/);
  });

  demo("says that the server asked for the wait", async (page) => {
    await page.load({ fault: "429", retryAfter: 10 });
    await page.sees(/Trying again .*The server answered 429 and asked us to wait\.$/);
  });

  demo("says that the visitor is offline, and what then", async (page) => {
    await page.tab.getByLabel("Pretend to be offline").check();
    await page.load();
    await page.sees("You are offline We will go on when you are back.");
    assert.equal(page.sent, 0);
  });

  demo("says at an open circuit when the next check is", async (page) => {
    await page.load({ ...FIVE, limit: 8 });
    await page.sees(new RegExp(`Problems connecting: next check in ${SECONDS}`));
  });

  demo("says when a refused call can be tried again", async (page) => {
    await page.load({ ...FIVE, limit: 8, onCircuitOpen: "reject" });
    await page.sees(new RegExp(`Problems connecting: try again in ${SECONDS}.* nothing more is sent by itself\\.$`));
    assert.deepEqual(await page.actions(), ["Try now"]);
  });

  demo("says at the end how many attempts it took", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 2 });
    await page.sees("Report loaded It took 3 attempts.");
  });

  demo("says why a 404 is not asked for again", async (page) => {
    await page.load({ fault: "404" });
    await page.reaches("failed");
    assert.match(await page.words(), /^Could not load The server answered 404: .*Asking again .* would not help\.$/);
    assert.equal(page.sent, 1);
  });

  demo("says how often it tried before it stopped", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: "every", limit: 1 });
    await page.sees("Could not load The server answered 503. We tried 2 times and stopped.");
  });

  demo("does not wait for a server that asks for five minutes", async (page) => {
    await page.load({ fault: "503", times: "every", retryAfter: 300 });
    await page.sees("Could not load The server asked to come back in 5 min.");
    assert.equal(page.sent, 1);
  });

  demo("says that it was cancelled", async (page) => {
    await page.load({ fault: "503", delay: 3000 });
    await page.reaches("waiting");
    await page.button("Cancel").click();
    await page.sees("Cancelled Nothing more will be sent.");
  });

  // ------------------------------------------------------------ the countdown

  demo("counts down, and shows each second once", async (page) => {
    await page.load({ fault: "503", times: 1, delay: 3000, jitter: "none" });
    await page.reaches("success");
    assert.deepEqual(numbers(await page.heard("headline")), [3, 2, 1]);
  });

  demo("counts down to the next check of an open circuit", async (page) => {
    await page.load({ ...FIVE, limit: 8 });
    await page.sees(/next check in 27 s/);
    const checks = (await page.heard("headline")).filter((text) => text.includes("check"));
    assert.deepEqual(numbers(checks).slice(0, 4), [30, 29, 28, 27]);
  });

  demo("keeps to the wait that the server asked for", async (page) => {
    await page.load({ fault: "429", times: 1, retryAfter: 3 });
    await page.reaches("success");
    const [, wait] = await page.timeLine();
    assert.equal(wait[0], "Wait");
    assert.ok(seconds(wait) >= 3, `it waited ${wait[2]}`);
  });

  // ------------------------------------------------------------ the buttons

  demo("offers what fits the state", async (page) => {
    const offered = {};
    const note = async (status) => {
      await page.reaches(status);
      offered[status] = await page.actions();
    };
    await note("idle");
    await page.load({ fault: "503", times: 1, delay: 3000 });
    await note("loading");
    await note("waiting");
    await page.button("Cancel").click();
    await note("cancelled");
    await page.button("Try again").click();
    await note("success");
    assert.deepEqual(offered, {
      idle: [],
      loading: ["(Try now)", "Cancel"],
      waiting: ["Try now", "Cancel"],
      cancelled: ["Try again"],
      success: [],
    });
  });

  demo("sends at once on Try now", async (page) => {
    await page.load({ fault: "429", times: 1, retryAfter: 10 });
    await page.reaches("waiting");
    await page.button("Try now").click();
    await page.reaches("success");
    const [, wait] = await page.timeLine();
    assert.ok(seconds(wait) < 9, `it waited ${wait[2]}`);
    assert.equal(page.sent, 2);
  });

  demo("sends nothing more for Try now while an attempt is on its way", async (page) => {
    await page.load({ fault: "Slow", times: 1 });
    await page.reaches("loading");
    await page.button("Try now").click({ force: true });
    await page.reaches("success");
    assert.equal(page.sent, 1);
  });

  demo("sends nothing after Cancel", async (page) => {
    await page.load({ fault: "503", times: "every", delay: 1000, jitter: "none" });
    await page.reaches("waiting");
    await page.button("Cancel").click();
    await page.reaches("cancelled");
    const { sent } = page;
    await page.pause(2500);
    assert.equal(page.sent, sent);
    await page.reaches("cancelled");
  });

  demo("gives up the attempt that is on its way on Cancel", async (page) => {
    const failed = page.tab.waitForEvent("requestfailed");
    await page.load({ fault: "Stalls", timeout: 30_000 });
    await page.reaches("loading");
    await page.button("Cancel").click();
    await page.reaches("cancelled");
    const request = await failed;
    assert.match(request.url(), /api\/report/);
    assert.equal(request.failure().errorText, "net::ERR_ABORTED");
  });

  demo("starts a new run on Try again", async (page) => {
    await page.load({ fault: "503", times: 1, limit: 0 });
    await page.reaches("exhausted");
    await page.button("Try again").click();
    await page.reaches("success");
    const loads = (await page.heard("headline")).filter((text) => text.startsWith("Loading"));
    assert.deepEqual(loads, ["Loading… (attempt 1 of 1)", "Loading… (attempt 1 of 1)"]);
    assert.equal(await page.words(), "Report loaded It worked this time.");
  });

  demo("lets a new load take the place of the one before", async (page) => {
    await page.load({ fault: "503", times: "every", delay: 1000, jitter: "none" });
    await page.reaches("waiting");
    await page.load({ fault: "Works" });
    await page.reaches("success");
    const { sent } = page;
    await page.pause(1500);
    assert.equal(page.sent, sent);
    assert.equal(await page.words(), "Report loaded It worked the first time.");
  });

  demo("holds a new load back while the server wants a pause", async (page) => {
    await page.load({ fault: "429", retryAfter: 10 });
    await page.reaches("waiting");
    await page.load({ fault: "Works" });
    await page.sees(new RegExp(`Starting in ${SECONDS} The server asked us to wait before the next request\\.$`));
    assert.equal(page.sent, 1);
    assert.match(await page.text("circuit-detail"), /^The server asked for a pause\./);
    await page.button("Try now").click();
    await page.reaches("success");
  });

  demo("loads with the options that are shown as code", async (page) => {
    await page.load({ fault: "503", limit: 8, delay: 3000, jitter: "decorrelated", onCircuitOpen: "reject" });
    await page.sees(/ of 9\)/);
    assert.match(
      (await page.text("code")).replace(/\s+/g, " "),
      /^createFetch\({ retry: { limit: 8, delay: 3000, jitter: "decorrelated", }, timeout: 5000, onCircuitOpen: "reject", }\)$/,
    );
  });

  demo("shows the report", async (page) => {
    await page.load({ fault: "Works" });
    const table = page.tab.getByRole("table", { name: "Parcels delivered this week" });
    await table.waitFor();
    assert.equal(await table.getByRole("row").count(), 5);
    assert.equal(await table.getByRole("row", { name: "Thursday" }).getByRole("cell").first().textContent(), "181");
  });

  // ------------------------------------------------------------ offline

  demo("goes on by itself when the network is back", async (page) => {
    await page.load({ fault: "503", times: 1, delay: 3000 });
    await page.reaches("waiting");
    await page.tab.context().setOffline(true);
    await page.reaches("offline");
    await page.tab.context().setOffline(false);
    await page.reaches("success");
  });

  demo("goes on by itself when the visitor no longer pretends", async (page) => {
    await page.tab.getByLabel("Pretend to be offline").check();
    await page.load({ fault: "Works" });
    await page.reaches("offline");
    await page.tab.getByLabel("Pretend to be offline").uncheck();
    await page.reaches("success");
    assert.equal((await page.timeLine())[0][0], "Offline");
  });

  demo("tries all the same on Try now, and stays offline", async (page) => {
    await page.tab.getByLabel("Pretend to be offline").check();
    await page.load();
    await page.reaches("offline");
    await page.button("Try now").click();
    await page.tab.locator("#stretches li").nth(2).waitFor();
    await page.reaches("offline");
    const names = (await page.timeLine()).map(([name, outcome]) => `${name} ${outcome}`.trim());
    assert.deepEqual(names, ["Offline", "Attempt 1 connection broke", "Offline"]);
  });

  // ------------------------------------------------------------ the circuit

  demo("lets the circuit open at the fifth failure in a row, and not before", async (page) => {
    const circuit = page.tab.locator("#circuit");
    await page.load({ ...FIVE, limit: 2 });
    await page.reaches("exhausted");
    await page.load({ limit: 0 });
    await page.tab.locator('#circuit[data-failures="4"]').waitFor();
    assert.equal(await circuit.getAttribute("data-status"), "closed");
    assert.match(await circuit.textContent(), /Closed\s+Requests go through\. 4 of 5 failures in a row\./);
    await page.reaches("exhausted");
    await page.load();
    await page.tab.locator('#circuit[data-status="open"]').waitFor();
    assert.match(await circuit.textContent(), /Open: next check in \d+\ss\s+5 requests in a row failed\./);
    assert.equal(await page.tab.locator("#circuit-dots .on").count(), 5);
    assert.equal(page.sent, 5);
  });

  demo("sends nothing for a load at an open circuit", async (page) => {
    await page.load(FIVE);
    await page.reaches("exhausted");
    await page.load();
    await page.reaches("circuit-open");
    await page.sees("so the server gets a pause");
    assert.equal(page.sent, 5);
  });

  demo("refuses a load at an open circuit at once, where it is told to", async (page) => {
    await page.load(FIVE);
    await page.reaches("exhausted");
    await page.load({ onCircuitOpen: "reject" });
    await page.reaches("circuit-open");
    await page.sees("nothing more is sent by itself");
    assert.equal(page.sent, 5);
  });

  demo("checks on Try now, and closes the circuit when the server is back", async (page) => {
    await page.load({ ...FIVE, limit: 8 });
    await page.reaches("circuit-open");
    await page.choose({ fault: "Slow" });
    await page.button("Try now").click();
    await page.sees("Checking… (attempt 6 of 9) One request goes first, to see if the server is back.");
    assert.equal(await page.text("circuit-name"), "Half-open");
    await page.reaches("success");
    assert.equal(await page.text("circuit-name"), "Closed");
  });

  demo("checks on Try now of a refused call", async (page) => {
    await page.load({ ...FIVE, limit: 8, onCircuitOpen: "reject" });
    await page.reaches("circuit-open");
    await page.choose({ fault: "Slow" });
    await page.button("Try now").click();
    await page.sees("Checking… (attempt 1 of 9)");
    await page.reaches("success");
  });

  demo("checks on Try again after the attempts that opened the circuit", async (page) => {
    await page.load(FIVE);
    await page.reaches("exhausted");
    await page.choose({ fault: "Slow" });
    await page.button("Try again").click();
    await page.sees("Checking… (attempt 1 of 5)");
    await page.reaches("success");
  });

  demo("opens the circuit again when the check fails", async (page) => {
    await page.load({ ...FIVE, limit: 8 });
    await page.reaches("circuit-open");
    await page.button("Try now").click();
    await page.tab.getByText("The last check failed too.").waitFor();
    await page.reaches("circuit-open");
    assert.equal(page.sent, 6);
  });

  demo(
    "checks by itself when the time has come",
    async (page) => {
      await page.load({ ...FIVE, limit: 8 });
      await page.reaches("circuit-open");
      await page.choose({ fault: "Works" });
      await page.tab.clock.fastForward(31_000);
      await page.reaches("success");
      assert.equal(await page.text("circuit-name"), "Closed");
    },
    { before: (tab) => tab.clock.install() },
  );

  demo("closes the circuit on Reset, and lets the call that waits go on", async (page) => {
    await page.load({ ...FIVE, limit: 8 });
    await page.reaches("circuit-open");
    await page.choose({ fault: "Works" });
    await page.button("Reset").click();
    await page.reaches("success");
    assert.match(await page.text("circuit-detail"), /No failure in a row\.$/);
  });

  // ------------------------------------------------------------ graph and time line

  demo("lights the present state in the graph, and no other", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 1 });
    await page.reaches("success");
    const lit = await page.heard("lit");
    assert.deepEqual(
      lit.map(([status]) => status),
      ["loading", "waiting", "loading", "success"],
    );
    for (const [status, nodes] of lit) assert.deepEqual(nodes, [status]);
  });

  demo("tells the present state and the step in the graph's name", async (page) => {
    await page.load({ fault: "404" });
    await page.reaches("failed");
    await page.tab.getByRole("img", { name: "State graph. Now: failed, coming from loading." }).waitFor();
    assert.equal(await page.text("step"), "loading → failed");
  });

  demo("has a bar and a line for each attempt and each wait", async (page) => {
    await page.load({ fault: "503", times: 2, delay: 1000, jitter: "none" });
    await page.reaches("success");
    const bars = await page.tab.locator("#track .bar").evaluateAll((all) => all.map((bar) => bar.className));
    assert.deepEqual(bars, [
      "bar attempt failed",
      "bar wait over",
      "bar attempt failed",
      "bar wait over",
      "bar attempt success",
    ]);
    const lines = (await page.timeLine()).map(([name, outcome]) => `${name} ${outcome}`.trim());
    const expected = ["Attempt 1 answered 503", "Wait", "Attempt 2 answered 503", "Wait", "Attempt 3 answered 200"];
    assert.deepEqual(lines, expected);
  });

  demo("lays the bars of the time line end to end", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 2 });
    await page.reaches("success");
    const bars = await page.tab
      .locator("#track .bar")
      .evaluateAll((all) =>
        all.map((bar) => ({ left: Number.parseFloat(bar.style.left), width: Number.parseFloat(bar.style.width) })),
      );
    for (const [i, bar] of bars.entries()) {
      assert.ok(bar.width > 0);
      const end = i === 0 ? 0 : bars[i - 1].left + bars[i - 1].width;
      assert.ok(Math.abs(bar.left - end) < 0.5, `bar ${i} begins at ${bar.left} %, the one before ends at ${end} %`);
    }
  });

  // ------------------------------------------------------------ for everyone

  demo("announces each state once, and no tick", async (page) => {
    await page.load({ fault: "503", times: 1, delay: 3000, jitter: "none" });
    await page.reaches("success");
    assert.deepEqual(await page.heard("announcer"), [
      "Loading (attempt 1 of 5).",
      "Trying again in 3 seconds (attempt 2 of 5). The server answered 503.",
      "Loading (attempt 2 of 5). Last time, the server answered 503.",
      "Report loaded. It took 2 attempts.",
    ]);
  });

  demo("announces politely, and nothing else is live", async (page) => {
    const live = await page.tab
      .locator("[aria-live], [role=status], [role=alert], [role=timer], [role=log]")
      .evaluateAll((all) => all.map((element) => [element.id, element.ariaLive]));
    assert.deepEqual(live, [["announcer", "polite"]]);
  });

  demo("has the countdown in the accessible tree", async (page) => {
    await page.load({ fault: "429", retryAfter: 10 });
    await page.reaches("waiting");
    const tree = await page.tab.getByRole("region", { name: "What your user sees" }).ariaSnapshot();
    assert.match(tree, /paragraph: "?Trying again in \d+\ss \(attempt 2 of 5\)/);
  });

  demo("can be worked with the keyboard alone", async (page) => {
    const { keyboard } = page.tab;
    await page.tab.getByRole("radio", { name: "503" }).focus();
    await keyboard.press("ArrowRight");
    assert.ok(await page.tab.getByRole("radio", { name: "429" }).isChecked());
    const way = [];
    while (!way.includes("load") && way.length < 10) {
      await keyboard.press("Tab");
      way.push(await page.focused());
    }
    assert.deepEqual(way, ["times", "retry-after", "offline", "load"]);
    await page.choose({ delay: 3000, limit: 8 });
    await page.tab.locator("#load").focus();
    await keyboard.press("Enter");
    await page.reaches("waiting");
    assert.equal(await page.focused(), "load");
    while ((await page.focused()) !== "try-now") await keyboard.press("Tab");
    await keyboard.press("Enter");
    await page.sees("attempt 2 of 9");
  });

  demo("keeps the focus on Try now through the attempts", async (page) => {
    await page.load({ fault: "503", delay: 3000, times: 1 });
    await page.reaches("waiting");
    await page.button("Try now").focus();
    await page.tab.keyboard.press("Enter");
    await page.reaches("loading");
    assert.equal(await page.focused(), "try-now");
  });

  demo("moves the focus from Try now to the report", async (page) => {
    await page.load({ fault: "503", delay: 3000, times: 1 });
    await page.reaches("waiting");
    await page.button("Try now").focus();
    await page.tab.keyboard.press("Enter");
    await page.reaches("success");
    assert.equal(await page.focused(), "report");
  });

  demo("moves the focus from Cancel to Try again", async (page) => {
    await page.load({ fault: "503", delay: 3000 });
    await page.reaches("waiting");
    await page.button("Cancel").focus();
    await page.tab.keyboard.press("Enter");
    await page.reaches("cancelled");
    assert.equal(await page.focused(), "try-again");
  });

  demo("leaves the focus where it is outside of the buttons", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 1 });
    await page.tab.locator("#times").focus();
    await page.reaches("success");
    assert.equal(await page.focused(), "times");
  });

  demo(
    "is nowhere wider than a screen of 360 pixels",
    async (page) => {
      const widths = {};
      const measure = async (status) => {
        await page.reaches(status);
        widths[status] = await page.tab.evaluate(() => document.documentElement.scrollWidth);
      };
      await measure("idle");
      await page.load({ ...FIVE, limit: 8 });
      await measure("loading");
      await measure("waiting");
      await measure("circuit-open");
      await page.button("Cancel").click();
      await measure("cancelled");
      await page.button("Reset").click();
      await page.load({ fault: "404" });
      await measure("failed");
      await page.load({ fault: "503", retryAfter: 300 });
      await measure("exhausted");
      await page.load({ fault: "Works" });
      await measure("success");
      await page.tab.locator("#report-table").waitFor();
      await measure("success");
      assert.deepEqual([...new Set(Object.values(widths))], [360], JSON.stringify(widths));
      assert.equal(Object.keys(widths).length, 8);
    },
    { context: { viewport: { width: 360, height: 740 } } },
  );

  demo(
    "keeps the buttons in their place from state to state",
    async (page) => {
      const places = {};
      const measure = async (status) => {
        await page.reaches(status);
        const card = await page.tab.locator("#user-card").boundingBox();
        places[status] = Math.round((await page.tab.locator("#actions").boundingBox()).y - card.y);
      };
      await measure("idle");
      await page.load({ ...FIVE, limit: 8 });
      await measure("loading");
      await measure("waiting");
      await measure("circuit-open");
      await page.choose({ fault: "Slow" });
      await page.button("Try now").click();
      await page.sees("Checking");
      await measure("loading");
      await page.button("Cancel").click();
      await page.button("Reset").click();
      await page.load({ fault: "404" });
      await measure("failed");
      assert.equal(new Set(Object.values(places)).size, 1, JSON.stringify(places));
    },
    { context: { viewport: { width: 390, height: 844 } } },
  );

  // ------------------------------------------------------------ wherever it is served

  demo("has a service worker that plays the server", async (page) => {
    await page.load({ fault: "Works" });
    await page.reaches("success");
    assert.match(await page.text("server-note"), /^A service worker of this page/);
    assert.equal(page.sent, 1);
  });

  demo("still has it after a reload", async (page) => {
    await page.tab.reload();
    await page.starts("worker");
    await page.load({ ...QUICK, fault: "503", times: 1 });
    await page.sees("It took 2 attempts.");
  });

  demo(
    "plays the server itself where service workers are blocked",
    async (page) => {
      await page.load({ ...QUICK, fault: "503", times: 1 });
      await page.sees("It took 2 attempts.");
      assert.match(await page.text("server-note"), /a stand-in for fetch inside the page/);
      assert.equal(page.sent, 0);
    },
    {
      server: "stand-in",
      before: (tab) =>
        tab.addInitScript(() => {
          const workers = navigator.serviceWorker ?? {};
          workers.register = () => Promise.reject(new DOMException("blocked", "SecurityError"));
        }),
    },
  );

  test("plays the server itself where there are no service workers", { timeout: 75_000 }, async () => {
    const url = site.url.replace("127.0.0.1", INSECURE_HOST);
    const visit = async (page) => {
      assert.equal(await page.tab.evaluate(() => "serviceWorker" in navigator), false);
      await page.load({ ...QUICK, fault: "Drops", times: 1 });
      await page.sees("It took 2 attempts.");
    };
    await visitDemo(url, visit, { server: "stand-in" });
  });

  test("works below a folder, and asks for nothing outside of it", { timeout: 75_000 }, async () => {
    const host = await serveBelow("/some/where/", site.url);
    try {
      await visitDemo(host.url, async (page) => {
        await page.load({ ...QUICK, fault: "503", times: 1 });
        await page.sees("It took 2 attempts.");
        assert.deepEqual(
          page.asked.filter((url) => !url.startsWith(host.url)),
          [],
        );
      });
      assert.deepEqual(host.strays, []);
    } finally {
      await host.close();
    }
  });

  demo("loads without an error or a warning", async (page) => {
    await page.load({ fault: "Works" });
    await page.reaches("success");
    assert.deepEqual(page.faults, []);
  });

  demo(
    "says so when the package is not there",
    async (page) => {
      await page.tab.route("**/steadfetch/index.js", (route) => route.fulfill({ status: 404 }));
      await page.tab.reload();
      await page.tab.getByText("Is the built package beside this page, as steadfetch/index.js?").waitFor();
      assert.equal(await page.text("headline"), "The demo could not start");
      page.faults.length = 0;
    },
    { context: {} },
  );
});
