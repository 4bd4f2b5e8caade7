// The demo page, with the built package and its own misbehaving server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { tabs } from "../scripts/lib/apps.mjs";
import { serve } from "../scripts/serve.mjs";
import { atOnce, cutsNetwork, except, INSECURE_HOST } from "./support/browser.mjs";
import { serveBelow, visitDemo, visitOutbox } from "./support/demo.mjs";

let site;
before(async () => {
  site = await serve();
});
after(() => site?.close());

/** A test on a page of its own. */
function demo(name, visit, { except: reasons, ...options } = {}) {
  test(name, { timeout: 75_000, ...except(reasons) }, () => visitDemo(site.url, visit, options));
}

const SECONDS = "\\d+ s";
const QUICK = { delay: 250, jitter: "full" };
/** Five failures in a row, which open the circuit. */
const FIVE = { ...QUICK, fault: "500", times: "every" };
const numbers = (texts) => texts.flatMap((text) => text.match(/ in (\d+)/)?.[1] ?? []).map(Number);
/** Stops the page's clock, so that no state ends before it was looked at. */
const FROZEN = { frozen: true };
const seconds = ([, , time]) => Number.parseFloat(time);

/** Through all nine states, on a page whose clock stands still. */
async function everyState(page) {
  await page.trip();
  await page.load();
  await page.reaches("circuit-open");
  await page.button("Try now").click();
  await page.tab.getByText("The last check failed too.").waitFor();
  await page.button("Reset").click();
  await page.load({ fault: "404" });
  await page.reaches("failed");
  await page.load({ fault: "429", retryAfter: 10, limit: 4 });
  await page.reaches("waiting");
  await page.tab.getByLabel("Pretend to be offline").check();
  await page.reaches("offline");
  await page.button("Cancel").click();
  await page.reaches("cancelled");
  await page.tab.getByLabel("Pretend to be offline").uncheck();
  await page.choose({ fault: "Works" });
  await page.button("Try again").click();
  await page.reaches("success");
  await page.tab.locator("#report-table").waitFor();
}

test("its tabs are those of the small apps", () => {
  for (const [file, line] of [
    ["index.html", tabs("", "./")],
    ["outbox/index.html", tabs("outbox", "../")],
  ]) {
    const page = readFileSync(new URL(`../www/${file}`, import.meta.url), "utf8");
    assert.ok(page.includes(line), `www/${file} wants ${line}`);
  }
});

describe("the demo page", { concurrency: atOnce(4) }, () => {
  // ------------------------------------------------------------ every state has its sentence

  demo("says before the first load that there is nothing yet", async (page) => {
    assert.equal(await page.words(), "Nothing loaded yet Choose what the server does, then load the report.");
  });

  demo("says while it loads which attempt it is, and of how many", async (page) => {
    await page.load({ fault: "Slow" });
    await page.sees("Loading… (attempt 1 of 5)");
  });

  demo("says how long it waits, which attempt comes then, and why", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: "every", limit: 2 });
    await page.reaches("exhausted");
    const waits = (await page.heard("words")).filter((text) => text.startsWith("Trying again"));
    assert.deepEqual(
      [...new Set(waits.map((text) => text.replace(/\d+ s/, "N s")))],
      [2, 3].map((attempt) => `Trying again in N s (attempt ${attempt} of 3) The server answered 503.`),
    );
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
    await page.sees(/Trying again .*No answer within \d+ s\.$/);
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

  demo(
    "says that it was cancelled",
    async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.button("Cancel").click();
      await page.sees("Cancelled Nothing more will be sent.");
    },
    FROZEN,
  );

  // ------------------------------------------------------------ the countdown

  demo(
    "counts down, and shows each second once",
    async (page) => {
      await page.load({ delay: 3000, jitter: "none" });
      await page.reaches("waiting");
      await page.passes(2990);
      assert.deepEqual(numbers(await page.heard("headline")), [3, 2, 1]);
    },
    FROZEN,
  );

  demo(
    "counts down to the next check of an open circuit",
    async (page) => {
      await page.trip();
      await page.load();
      await page.reaches("circuit-open");
      await page.passes(29_990);
      const down = Array.from({ length: 30 }, (_, i) => 30 - i);
      assert.deepEqual(numbers(await page.heard("headline")), down);
      assert.deepEqual(numbers(await page.heard("circuit-name")), down);
    },
    FROZEN,
  );

  demo("keeps to the wait that the server asked for", async (page) => {
    await page.load({ fault: "429", times: 1, retryAfter: 3 });
    await page.reaches("success");
    const [, wait] = await page.timeLine();
    assert.equal(wait[0], "Wait");
    assert.ok(seconds(wait) >= 3, `it waited ${wait[2]}`);
  });

  // ------------------------------------------------------------ the buttons

  demo(
    "offers what fits the state",
    async (page) => {
      await page.load({ fault: "503", times: 1 });
      await page.reaches("waiting");
      await page.button("Cancel").click();
      await page.button("Try again").click();
      await page.reaches("success");
      await page.load({ fault: "404" });
      await page.reaches("failed");
      const offers = (await page.heard("states")).map(({ status, offered }) => `${status}: ${offered}`);
      assert.deepEqual(offers, [
        "idle: ",
        "loading: (Try now),Cancel",
        "waiting: Try now,Cancel",
        "cancelled: Try again",
        "loading: (Try now),Cancel",
        "success: ",
        "loading: (Try now),Cancel",
        "failed: Try again",
      ]);
    },
    FROZEN,
  );

  demo(
    "sends at once on Try now",
    async (page) => {
      await page.load({ fault: "429", times: 1, retryAfter: 10 });
      await page.reaches("waiting");
      await page.button("Try now").click();
      await page.reaches("success");
      assert.equal(page.sent, 2);
    },
    FROZEN,
  );

  demo(
    "sends nothing more for Try now while an attempt is on its way",
    async (page) => {
      await page.load({ fault: "Stalls" });
      await page.reaches("loading");
      await page.button("Try now").click({ force: true });
      await page.pause(500);
      assert.equal(page.sent, 1);
    },
    FROZEN,
  );

  demo(
    "shows that Try now rests, even under the pointer",
    async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.choose({ fault: "Stalls" });
      await page.button("Try now").click();
      await page.reaches("loading");
      const color = (id) =>
        page.tab.evaluate((key) => getComputedStyle(document.getElementById(key)).backgroundColor, id);
      assert.equal(await color("try-now"), await color("retry-after"));
    },
    FROZEN,
  );

  demo(
    "sends nothing after Cancel",
    async (page) => {
      await page.load({ fault: "503", times: "every" });
      await page.reaches("waiting");
      await page.button("Cancel").click();
      await page.reaches("cancelled");
      await page.passes(60_000);
      await page.pause(500);
      assert.equal(page.sent, 1);
    },
    FROZEN,
  );

  demo(
    "gives up the attempt that is on its way on Cancel",
    async (page) => {
      const failed = page.tab.waitForEvent("requestfailed");
      await page.load({ fault: "Stalls" });
      await page.reaches("loading");
      await page.button("Cancel").click();
      const request = await failed;
      assert.match(request.url(), /api\/report/);
      // ERR_FAILED where the service worker heard of the abort first and threw.
      assert.match(request.failure().errorText, /^(net::ERR_(ABORTED|FAILED)|NS_BINDING_ABORTED)$/);
      await page.reaches("cancelled");
    },
    { ...FROZEN, except: { webkit: "WebDriver does not tell of requests" } },
  );

  demo("starts a new run on Try again", async (page) => {
    await page.load({ fault: "503", times: 1, limit: 0 });
    await page.reaches("exhausted");
    await page.button("Try again").click();
    await page.reaches("success");
    const loads = (await page.heard("headline")).filter((text) => text.startsWith("Loading"));
    assert.deepEqual(loads, ["Loading… (attempt 1 of 1)", "Loading… (attempt 1 of 1)"]);
    assert.equal(await page.words(), "Report loaded It worked this time.");
  });

  demo(
    "lets a new load take the place of the one before",
    async (page) => {
      await page.load({ fault: "503", times: "every" });
      await page.reaches("waiting");
      await page.load({ fault: "Works" });
      await page.reaches("success");
      await page.passes(5000);
      await page.pause(500);
      assert.equal(page.sent, 2);
      assert.equal(await page.words(), "Report loaded It worked the first time.");
    },
    FROZEN,
  );

  demo(
    "holds a new load back while the server wants a pause",
    async (page) => {
      await page.load({ fault: "429", retryAfter: 10 });
      await page.reaches("waiting");
      await page.load({ fault: "Works" });
      await page.sees(new RegExp(`Starting in ${SECONDS} The server asked us to wait before the next request\\.$`));
      assert.equal(page.sent, 1);
      assert.match(await page.text("circuit-detail"), /^The server asked for a pause\./);
      await page.passes(12_000);
      await page.reaches("success");
    },
    FROZEN,
  );

  demo("loads with the options that are shown as code", async (page) => {
    await page.load({ fault: "503", limit: 8, delay: 3000, jitter: "decorrelated", onCircuitOpen: "reject" });
    await page.sees(/ of 9\)/);
    assert.match(
      (await page.text("code")).replace(/\s+/g, " "),
      /^createFetch\({ retry: { limit: 8, delay: 3000, jitter: "decorrelated", }, timeout: 5000, onCircuitOpen: "reject", budget: false, }\)$/,
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

  demo(
    "goes on by itself when the network is back",
    async (page) => {
      await page.load({ fault: "503", times: 1, delay: 3000 });
      await page.reaches("waiting");
      await page.tab.context().setOffline(true);
      await page.reaches("offline");
      await page.tab.context().setOffline(false);
      await page.passes(1500);
      await page.reaches("success");
    },
    FROZEN,
  );

  demo("goes on by itself when the visitor no longer pretends", async (page) => {
    await page.tab.getByLabel("Pretend to be offline").check();
    await page.load({ fault: "Works" });
    await page.reaches("offline");
    await page.tab.getByLabel("Pretend to be offline").uncheck();
    await page.reaches("success");
    assert.equal((await page.timeLine())[0][0], "Offline");
  });

  demo(
    "tries all the same on Try now, and stays offline",
    async (page) => {
      await page.tab.getByLabel("Pretend to be offline").check();
      await page.load();
      await page.reaches("offline");
      await page.button("Try now").click();
      await page.tab.locator("#stretches li").nth(2).waitFor();
      await page.reaches("offline");
      const names = (await page.timeLine()).map(([name, outcome]) => `${name} ${outcome}`.trim());
      assert.deepEqual(names, ["Offline", "Attempt 1 connection broke", "Offline"]);
    },
    FROZEN,
  );

  // ------------------------------------------------------------ the circuit

  demo("lets the circuit open at the fifth failure in a row, and not before", async (page) => {
    const circuit = page.tab.locator("#circuit");
    const said = [];
    await page.choose({ fault: "500", times: "every", limit: 0 });
    for (let failures = 1; failures <= 5; failures++) {
      await page.button("Load report").click();
      await page.tab.locator(`#circuit[data-failures="${failures}"]`).waitFor();
      said.push((await circuit.textContent()).replace(/\s+/g, " ").trim());
    }
    assert.equal(said[3], "Closed Requests go through. 4 of 5 failures in a row.");
    assert.match(said[4], /^Open: next check in \d+ s 5 requests in a row failed\.$/);
    assert.equal(await page.tab.locator("#circuit-dots .on").count(), 5);
    assert.equal(page.sent, 5);
  });

  demo("sends nothing for a load at an open circuit", async (page) => {
    await page.trip();
    await page.load();
    await page.sees("so the server gets a pause");
    assert.equal(page.sent, 5);
  });

  demo("refuses a load at an open circuit at once, where it is told to", async (page) => {
    await page.trip();
    await page.load({ onCircuitOpen: "reject" });
    await page.sees("nothing more is sent by itself");
    assert.deepEqual((await page.heard("states")).at(-1).offered, ["Try now"]);
    assert.equal(page.sent, 5);
  });

  demo(
    "checks on Try now, and closes the circuit when the server is back",
    async (page) => {
      await page.trip();
      await page.load({ limit: 4 });
      await page.reaches("circuit-open");
      await page.choose({ fault: "Works" });
      await page.button("Try now").click();
      await page.reaches("success");
      await page.sees("Checking… (attempt 1 of 5) One request goes first, to see if the server is back.");
      assert.deepEqual((await page.heard("circuit-name")).slice(-2), ["Half-open", "Closed"]);
    },
    FROZEN,
  );

  demo(
    "checks on Try now of a refused call",
    async (page) => {
      await page.trip();
      await page.load({ onCircuitOpen: "reject" });
      await page.reaches("circuit-open");
      await page.choose({ fault: "Works" });
      await page.button("Try now").click();
      await page.reaches("success");
      await page.sees("Checking… (attempt 1 of 1)");
    },
    FROZEN,
  );

  demo(
    "checks on Try again after the attempt that opened the circuit",
    async (page) => {
      await page.trip();
      await page.choose({ fault: "Works" });
      await page.button("Try again").click();
      await page.reaches("success");
      await page.sees("Checking… (attempt 1 of 1)");
    },
    FROZEN,
  );

  demo(
    "opens the circuit again when the check fails",
    async (page) => {
      await page.trip();
      await page.load({ limit: 4 });
      await page.reaches("circuit-open");
      await page.button("Try now").click();
      await page.tab.getByText("The last check failed too.").waitFor();
      await page.reaches("circuit-open");
      assert.equal(page.sent, 6);
    },
    FROZEN,
  );

  demo(
    "checks by itself when the time has come, and not before",
    async (page) => {
      await page.trip();
      await page.load({ fault: "Works" });
      await page.reaches("circuit-open");
      await page.passes(29_900);
      assert.equal(page.sent, 5);
      await page.passes(200);
      await page.reaches("success");
    },
    FROZEN,
  );

  demo(
    "closes the circuit on Reset, and lets the call that waits go on",
    async (page) => {
      await page.trip();
      await page.load({ fault: "Works" });
      await page.reaches("circuit-open");
      await page.button("Reset").click();
      await page.reaches("success");
      assert.match(await page.text("circuit-detail"), /No failure in a row\.$/);
    },
    FROZEN,
  );

  // ------------------------------------------------------------ graph and time line

  demo("lights the present state in the graph, and no other", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 1 });
    await page.reaches("success");
    const lit = (await page.heard("states")).map((state) => `${state.status}: ${state.lit}`);
    assert.deepEqual(lit, [
      "idle: idle",
      "loading: loading",
      "waiting: waiting",
      "loading: loading",
      "success: success",
    ]);
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

  demo(
    "announces each state once, and no tick",
    async (page) => {
      await page.load({ fault: "503", times: 1, delay: 3000, jitter: "none" });
      await page.reaches("waiting");
      await page.passes(3500);
      await page.reaches("success");
      assert.deepEqual(await page.heard("announcer"), [
        "Loading (attempt 1 of 5).",
        "Trying again in 3 seconds (attempt 2 of 5). The server answered 503.",
        "Loading (attempt 2 of 5). Last time, the server answered 503.",
        "Report loaded. It took 2 attempts.",
      ]);
    },
    FROZEN,
  );

  demo("announces politely, and nothing else is live", async (page) => {
    const live = await page.tab
      .locator("[aria-live], [role=status], [role=alert], [role=timer], [role=log]")
      .evaluateAll((all) => all.map((element) => [element.id, element.ariaLive]));
    assert.deepEqual(live, [["announcer", "polite"]]);
  });

  demo(
    "has the countdown in the accessible tree",
    async (page) => {
      await page.load({ fault: "429", retryAfter: 10 });
      await page.reaches("waiting");
      await page.passes(3000);
      const tree = await page.tab.getByRole("region", { name: "What your user sees" }).ariaSnapshot();
      assert.match(tree, /paragraph: "?Trying again in [78]\ss \(attempt 2 of 5\)/);
    },
    { ...FROZEN, except: { webkit: "WebDriver has no tree of what is accessible" } },
  );

  demo(
    "can be worked with the keyboard alone",
    async (page) => {
      const { keyboard } = page.tab;
      const tabTo = async (id) => {
        const way = [];
        while (way.at(-1) !== id && way.length < 20) {
          await keyboard.press("Tab");
          way.push(await page.focused());
        }
        return way;
      };
      await page.tab.getByRole("radio", { name: "503" }).focus();
      await keyboard.press("ArrowRight");
      assert.ok(await page.tab.getByRole("radio", { name: "429" }).isChecked());
      assert.deepEqual(await tabTo("load"), ["times", "retry-after", "offline", "load"]);
      await keyboard.press("Enter");
      await page.reaches("waiting");
      assert.equal(await page.focused(), "load");
      assert.equal((await tabTo("try-now")).at(-1), "try-now");
      await keyboard.press("Enter");
      await page.sees("Loading… (attempt 2 of 5)");
      assert.deepEqual(await tabTo("cancel"), ["cancel"]);
      await keyboard.press("Space");
      await page.reaches("cancelled");
    },
    FROZEN,
  );

  demo(
    "keeps the focus on Try now through the attempts",
    async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.choose({ fault: "Stalls" });
      await page.button("Try now").focus();
      await page.tab.keyboard.press("Enter");
      await page.reaches("loading");
      assert.equal(await page.focused(), "try-now");
    },
    FROZEN,
  );

  demo(
    "moves the focus from Try now to the report",
    async (page) => {
      await page.load({ times: 1 });
      await page.reaches("waiting");
      await page.button("Try now").focus();
      await page.tab.keyboard.press("Enter");
      await page.reaches("success");
      assert.equal(await page.focused(), "report");
    },
    FROZEN,
  );

  demo(
    "moves the focus from Cancel to Try again",
    async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.button("Cancel").focus();
      await page.tab.keyboard.press("Enter");
      await page.reaches("cancelled");
      assert.equal(await page.focused(), "try-again");
    },
    FROZEN,
  );

  demo("leaves the focus where it is outside of the buttons", async (page) => {
    await page.load({ ...QUICK, fault: "503", times: 1 });
    await page.tab.locator("#times").focus();
    await page.reaches("success");
    assert.equal(await page.focused(), "times");
  });

  demo(
    "is in no state wider than a screen of 360 pixels",
    async (page) => {
      await everyState(page);
      const states = await page.heard("states");
      assert.equal(new Set(states.map(({ status }) => status)).size, 9);
      for (const { status, width } of states) assert.equal(width, 360, status);
      await page.tab.locator("#options-card summary").click();
      assert.equal(await page.tab.evaluate(() => document.documentElement.scrollWidth), 360);
    },
    {
      ...FROZEN,
      screen: { width: 360, height: 740 },
      except: { webkit: "the window of its MiniBrowser is no narrower than its tool bar" },
    },
  );

  demo(
    "keeps the buttons in their place from state to state",
    async (page) => {
      await everyState(page);
      const places = (await page.heard("states")).map(({ status, buttonsAt }) => `${status}: ${buttonsAt}`);
      assert.equal(new Set(places.map((place) => place.replace(/.*: /, ""))).size, 1, places.join(", "));
    },
    { frozen: true, screen: { width: 390, height: 844 } },
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
      except: { webkit: "WebDriver runs nothing before a page's own scripts" },
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

  const unserved = { except: { webkit: "WebDriver does not answer in the place of a server" } };
  demo(
    "says so when the package is not there",
    async (page) => {
      await page.tab.route("**/steadfetch/index.js", (route) => route.fulfill({ status: 404 }));
      await page.tab.reload();
      await page.tab.getByText("Is the built package beside this page, as steadfetch/index.js?").waitFor();
      assert.equal(await page.text("headline"), "The demo could not start");
      page.faults.length = 0;
      await page.tab.unrouteAll();
    },
    unserved,
  );
});

/** A test on the page about the outbox, at an origin of its own: some browsers have one store for all contexts. */
function outbox(name, visit, { except: reasons, ...how } = {}) {
  test(name, { timeout: 75_000, ...except(reasons) }, async () => {
    const own = await serve();
    try {
      await visitOutbox(own.url, visit, how);
    } finally {
      await own.close();
    }
  });
}

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** A comment of each kind: one that waits, one behind it, one that was refused, one that was taken. */
async function everyKind(page) {
  await page.posts("taken");
  await page.line("taken", "taken").waitFor();
  await page.server("422");
  await page.posts("refused");
  await page.line("refused", "not wanted here").waitFor();
  await page.server("503");
  await page.posts("waits", "unbreakable".repeat(20));
  await page
    .line("pending", "waits")
    .getByText(/^Sent again in/)
    .waitFor();
}

describe("the page about the outbox", { concurrency: atOnce(2) }, () => {
  outbox("says that the server has all, before anything is posted", async (page) => {
    await page.tab.getByText("Nothing: the server has all that you posted.").waitFor();
    await page.tab.getByText("No comment has arrived yet.").waitFor();
  });

  outbox("delivers a comment, once", async (page) => {
    await page.posts("hello");
    await page.line("taken", "Sent once, taken once").waitFor();
    assert.deepEqual([await page.texts("pending"), await page.texts("taken")], [[], ["hello"]]);
  });

  outbox("keeps what was posted offline over a reload, and delivers it in order", async (page) => {
    await page.offline.check();
    await page.posts("first", "second");
    await page.line("pending", "Kept here until you are online").waitFor();
    await page.reload();
    assert.ok(await page.offline.isChecked());
    await page.line("pending", "Kept here until you are online").waitFor();
    assert.deepEqual([await page.texts("pending"), await page.texts("taken")], [["first", "second"], []]);
    await page.offline.uncheck();
    await page.tab.locator("#taken li").nth(1).waitFor();
    assert.deepEqual([await page.texts("pending"), await page.texts("taken")], [[], ["second", "first"]]);
  });

  outbox(
    "keeps what is posted while the browser itself is offline",
    async (page) => {
      await page.context.setOffline(true);
      await page.posts("hello");
      await page.line("pending", "Kept here until you are online").waitFor();
      await page.context.setOffline(false);
      await page.line("taken", "hello").waitFor();
    },
    { except: cutsNetwork ? {} : { webkit: "WebDriver tells only the page that it is offline" } },
  );

  outbox("counts down to the next try, and tries at once on Try now", async (page) => {
    await page.server("503");
    await page.tab.getByLabel("Retry-After").selectOption("60");
    await page.posts("hello");
    await page.line("pending", /Sent again in [56]\d\ss, the server asked for that/).waitFor();
    await page.server("Takes");
    await page.button("Try now").click();
    await page.line("taken", "Sent once, taken once").waitFor();
  });

  outbox("puts aside what the server refuses, with its words, and the next ones go on", async (page) => {
    await page.server("422");
    await page.posts("spam");
    await page.line("refused", "The server answered 422. “Comments of this kind are not wanted here.”").waitFor();
    await page.server("Takes");
    await page.posts("hello");
    await page.line("taken", "hello").waitFor();
    await page.reload();
    await page.line("refused", "“Comments of this kind are not wanted here.”").waitFor();
    await page.button("Send again").click();
    await page.line("taken", "spam").waitFor();
    assert.equal(await page.tab.locator("#refused-card").isVisible(), false);
  });

  outbox(
    "takes back on Cancel what is not delivered, and on Discard what was refused",
    async (page) => {
      await everyKind(page);
      await page.line("refused", "refused").getByText("Discard").click();
      await page.line("pending", "waits").getByText("Cancel").click();
      await page.line("pending", "unbreakable").getByText("Cancel").click();
      await page.tab.getByText("Nothing: the server has all that you posted.").waitFor();
      assert.deepEqual([await page.texts("refused"), await page.texts("taken")], [[], ["taken"]]);
      await page.reload();
      assert.deepEqual(await page.texts("pending"), []);
    },
    { except: { webkit: "its driver finds no place to click on Cancel beside a long comment" } },
  );

  outbox("has a comment once whose answer was lost", async (page) => {
    await page.server("Drops");
    await page.posts("hello");
    await page.line("pending", /Sent again in \d+\ss, the last try failed/).waitFor();
    await page.server("503");
    await page.line("pending", /Sent again in \d+\ss, the server answered 503/).waitFor();
    await page.server("Takes");
    await page.line("taken", /Sent \d times, taken once/).waitFor();
    assert.deepEqual(await page.texts("taken"), ["hello"]);
  });

  outbox("shows in each tab what was posted in another, and goes on where that is closed", async (page) => {
    await page.offline.check();
    await page.posts("from the first");
    const other = await page.another();
    await other.posts("from the second");
    await page.line("pending", "from the second").waitFor();
    await page.tab.getByText("2 comments wait in this browser. This tab sends.").waitFor();
    await other.tab.getByText("2 comments wait in this browser. Another tab sends.").waitFor();
    await page.tab.close();
    await other.tab.getByText("2 comments wait in this browser. This tab sends.").waitFor();
    await other.offline.uncheck();
    await other.tab.locator("#taken li").nth(1).waitFor();
    assert.deepEqual(await other.texts("taken"), ["from the second", "from the first"]);
  });

  outbox("is offline in all tabs once it is in one, and back as well", async (page) => {
    const other = await page.another();
    await other.offline.check();
    await page.posts("hello");
    await page.line("pending", "Kept here until you are online").waitFor();
    await other.offline.uncheck();
    await page.line("taken", "hello").waitFor();
    assert.equal(await page.offline.isChecked(), false);
  });

  outbox("tells politely what becomes of a comment, and no tick", async (page) => {
    await page.server("503");
    await page.tab.getByLabel("Retry-After").selectOption("60");
    await page.posts("hello");
    await page.line("pending", "Sent again in").waitFor();
    const before = await page.tab.locator("#pending .what").textContent();
    await page.tab.waitForFunction((text) => document.querySelector("#pending .what").textContent !== text, before);
    await page.server("Takes");
    await page.button("Try now").click();
    await page.line("taken", "hello").waitFor();
    const heard = await page.heard();
    assert.match(heard.shift(), /^hello: Sent again in 6\d seconds, the server asked for that\.$/);
    assert.deepEqual(heard, ["hello: delivered."]);
    const live = await page.tab
      .locator("[aria-live], [role=status], [role=alert], [role=timer], [role=log]")
      .evaluateAll((all) => all.map((element) => [element.id, element.ariaLive]));
    assert.deepEqual(live, [["announcer", "polite"]]);
  });

  outbox("can be worked with the keyboard alone, and never loses the focus", async (page) => {
    const { keyboard } = page.tab;
    await page.offline.check();
    await page.tab.locator("#text").focus();
    for (const text of ["first", "second"]) {
      for (const key of text) await keyboard.press(key);
      await keyboard.press("Tab");
      assert.equal(await page.focused(), "send");
      await keyboard.press("Enter");
      await page.line("pending", text).waitFor();
      await page.tab.waitForFunction(() => document.activeElement.id === "text");
    }
    for (const name of ["send", "Try now", "Cancel"]) {
      await keyboard.press("Tab");
      assert.equal(await page.focused(), name);
    }
    await keyboard.press("Enter");
    await page.line("pending", "first").waitFor({ state: "detached" });
    assert.equal(await page.focused(), "Cancel");
    await keyboard.press("Space");
    await page.line("pending", "second").waitFor({ state: "detached" });
    assert.equal(await page.focused(), "text");
  });

  outbox("has buttons that tell which comment they are about", async (page) => {
    await page.offline.check();
    await page.posts("first");
    const [described] = await page
      .button("Cancel")
      .evaluateAll((all) =>
        all.map((one) => document.getElementById(one.getAttribute("aria-describedby")).textContent),
      );
    assert.equal(described, "first");
  });

  for (const colorScheme of ["light", "dark"]) {
    outbox(
      `gives axe nothing to find, ${colorScheme}`,
      async (page) => {
        await everyKind(page);
        await page.tab.evaluate(AXE);
        const found = await page.tab.evaluate(async () => {
          const { violations, incomplete } = await axe.run();
          return [...violations, ...incomplete].flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html]));
        });
        assert.deepEqual(found, []);
      },
      {
        colorScheme,
        except: { firefox: "the policy of the page refuses it", webkit: "the policy of the page refuses it" },
      },
    );
  }

  outbox(
    "is no wider than a screen of 360 pixels",
    async (page) => {
      await everyKind(page);
      assert.equal(await page.tab.evaluate(() => document.documentElement.scrollWidth), 360);
    },
    {
      screen: { width: 360, height: 740 },
      except: { webkit: "the window of its MiniBrowser is no narrower than its tool bar" },
    },
  );

  test("works below a folder, and asks for nothing outside of it", { timeout: 75_000 }, async () => {
    const host = await serveBelow("/some/where/", site.url);
    try {
      await visitOutbox(host.url, async (page) => {
        await page.posts("hello");
        await page.line("taken", "hello").waitFor();
      });
      assert.deepEqual(host.strays, []);
    } finally {
      await host.close();
    }
  });

  test("keeps comments where there are no service workers and no locks", { timeout: 75_000 }, async () => {
    const url = site.url.replace("127.0.0.1", INSECURE_HOST);
    await visitOutbox(url, async (page) => {
      await page.offline.check();
      await page.posts("hello");
      await page.reload();
      await page.line("pending", "Kept here until you are online").waitFor();
      await page.offline.uncheck();
      await page.line("taken", "hello").waitFor();
    });
  });
});
