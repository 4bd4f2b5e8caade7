// The adapters in the small apps of www/apps: each framework itself, the packed package, a real build, a browser, and a
// server that misbehaves. The page's clock stands still and passes as told.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildApps, FRAMEWORKS, REACT_18 } from "../scripts/lib/apps.mjs";
import { atOnce, cutsNetwork, except, faultsOf, launch, OUTBOX } from "./support/browser.mjs";
import { built } from "./support/builds.mjs";
import { startServer, until } from "./support/server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const OUT = path.join(root, "target", "apps-tested");
const TESTED = [...FRAMEWORKS, REACT_18];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const REPORT = { body: JSON.stringify({ title: "Parcels" }), headers: { "Content-Type": "application/json" } };

let server;
before(
  async () => {
    if (!built) await buildApps({ out: OUT, apps: TESTED });
    server = await startServer({ files });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

/** The built apps, and what they take from the demo. */
function files(request, response) {
  const { pathname } = new URL(request.url, "http://localhost");
  const name = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
  const file = name.startsWith("/apps/") ? path.join(OUT, name.slice(6)) : path.join(root, "www", name);
  if (!existsSync(file)) return false;
  response.writeHead(200, { "Content-Type": TYPES[path.extname(file)], Connection: "close" }).end(readFileSync(file));
  return true;
}

let paths = 0;

/** The app on a page of its own, with the server's answers to what it loads. */
class Visit {
  faults;
  path = `/api/${++paths}`;

  static async of(app, steps) {
    const visit = new Visit();
    server.script(visit.path, steps);
    const context = await (await launch()).newContext();
    context.setDefaultTimeout(20_000);
    await context.clock.install({ time: new Date("2026-01-01T00:00:00Z") });
    await context.clock.pauseAt(new Date("2026-01-01T01:00:00Z"));
    visit.app = app;
    visit.page = await context.newPage();
    visit.faults = faultsOf(visit.page);
    await visit.page.goto(`${server.url}/apps/${app.name}/?api=${server.url}${visit.path}`);
    await visit.button("Load report").waitFor();
    return visit;
  }

  get hits() {
    return server.hits(this.path);
  }

  /** What was posted. */
  get posts() {
    return server.hits(`${this.path}/comments`);
  }

  answersPosts(...steps) {
    server.script(`${this.path}/comments`, steps);
  }

  comment(text) {
    return this.page.locator(".comments li", { hasText: text });
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  async click(name) {
    await this.sees(this.button(name));
    await this.button(name).click();
    await this.frame();
  }

  /** Preact and Angular do their work after a frame, which the clock gives. */
  async frame() {
    if (["preact", "angular"].includes(this.app.name)) await this.passes(20);
  }

  async load() {
    await this.page.evaluate(() => {
      globalThis.headlines = [];
      const note = () => {
        const text = document.querySelector(".headline")?.textContent;
        if (text && globalThis.headlines.at(-1) !== text) globalThis.headlines.push(text);
      };
      new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await this.click("Load report");
  }

  /** Waits for something to be seen, from frame to frame. */
  async sees(locator) {
    for (let tries = 0; tries < 400 && !(await locator.count()); tries++) {
      await this.frame();
      await this.page.waitForTimeout(50);
    }
    await locator.waitFor();
    await this.frame();
  }

  reaches(status) {
    return this.sees(this.page.locator(`.panel[data-status="${status}"]`));
  }

  passes(ms) {
    return this.page.clock.runFor(ms);
  }

  text(selector) {
    return this.page.locator(selector).textContent();
  }

  renders() {
    return this.page.evaluate(() => ({ ...globalThis.renders }));
  }

  async end() {
    await this.page.context().close();
    assert.deepEqual(this.faults, [], "the page had errors or warnings");
  }
}

const visiting = (app, reasons) => (name, steps, act) =>
  test(name, { timeout: 60_000, ...except(reasons) }, async () => {
    const page = await Visit.of(app, steps);
    try {
      await act(page);
    } finally {
      await page.end();
    }
  });

describe("Svelte without an adapter", () => {
  const visit = visiting(TESTED.find(({ name }) => name === "svelte"));

  visit("takes a call as a store", [{ status: 503, retryAfter: 5 }, REPORT], async (page) => {
    await page.load();
    await page.sees(page.page.getByText("As a store: waiting"));
    await page.click("Try now");
    await page.sees(page.page.getByText("As a store: success"));
  });
});

for (const app of TESTED) {
  describe(`the adapter for ${app.title}`, { concurrency: atOnce(2) }, () => {
    const visit = visiting(app);
    const outbox = visiting(app, OUTBOX);

    visit("is idle until something is wanted", [REPORT], async (page) => {
      await page.reaches("idle");
      assert.equal(page.hits.length, 0);
    });

    visit("shows what came, after one request", [REPORT], async (page) => {
      await page.load();
      await page.reaches("success");
      await page.sees(page.page.getByText("Parcels"));
      assert.equal(page.hits.length, 1);
    });

    visit("counts down, each second once", [{ status: 503, retryAfter: 5 }, REPORT], async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.passes(4_700);
      const headlines = await page.page.evaluate(() => globalThis.headlines);
      const counted = headlines.flatMap((text) => text.match(/ in (\d+)/)?.[1] ?? []);
      assert.deepEqual(counted.map(Number), [5, 4, 3, 2, 1]);
      await page.passes(400);
      await page.reaches("success");
    });

    visit("renders no component for a tick that shows no countdown", [{ status: 503, retryAfter: 5 }], async (page) => {
      await page.load();
      await page.reaches("waiting");
      const { report: before, ...othersBefore } = await page.renders();
      await page.passes(4_500);
      const { report, ...others } = await page.renders();
      assert.ok(report >= before + 4, `the one with the countdown was rendered ${report - before} times`);
      assert.deepEqual(others, othersBefore);
    });

    visit("goes on at once on Try now", [{ status: 503, retryAfter: 30 }, REPORT], async (page) => {
      await page.load();
      await page.reaches("waiting");
      await page.click("Try now");
      await page.reaches("success");
      assert.equal(page.hits.length, 2);
    });

    visit("shows another request in the place of the first, and not that first one's end", ["stall"], async (page) => {
      await page.load();
      await page.reaches("loading");
      await page.click("Load report");
      await until(() => page.hits.length === 2 && page.hits[0].aborted);
      await page.frame();
      const headlines = await page.page.evaluate(() => globalThis.headlines);
      assert.deepEqual(headlines, ["Nothing loaded yet", "Loading… (attempt 1 of 5)"].slice(-headlines.length));
    });

    visit("is used by the keyboard alone, and keeps the focus", [503, { status: 503, retryAfter: 9 }], async (page) => {
      const focused = () => page.page.evaluate(() => document.activeElement.textContent.trim());
      const presses = async (key) => {
        await page.page.keyboard.press(key);
        await page.frame();
      };
      await page.button("Load report").focus();
      await presses("Enter");
      await page.reaches("waiting");
      for (const name of ["Close panel", "Try now"]) {
        await presses("Tab");
        assert.equal(await focused(), name);
      }
      await presses("Enter");
      await until(() => page.hits.length === 2);
      await page.reaches("waiting");
      assert.equal(await focused(), "Try now");
      await presses("Tab");
      await presses("Space");
      await page.reaches("cancelled");
      assert.equal(await focused(), "Cancel");
      await presses("Shift+Tab");
      assert.equal(await focused(), "Try again");
    });

    visit(
      "sends nothing after Cancel, and again on Try again",
      [{ status: 503, retryAfter: 5 }, REPORT],
      async (page) => {
        await page.load();
        await page.reaches("waiting");
        await page.click("Cancel");
        await page.reaches("cancelled");
        await page.passes(20_000);
        assert.equal(page.hits.length, 1);
        await page.click("Try again");
        await page.reaches("success");
        assert.equal(page.hits.length, 2);
      },
    );

    visit("cancels when the component goes, and updates it no more", ["stall"], async (page) => {
      await page.load();
      await page.reaches("loading");
      await until(() => page.hits.length === 1);
      const before = await page.renders();
      await page.click("Close panel");
      await until(() => page.hits[0].aborted);
      await page.sees(page.page.getByText("0 loading, 0 waiting"));
      const { report } = await page.renders();
      assert.equal(report, before.report);
    });

    visit("begins anew when the component comes back", [REPORT], async (page) => {
      await page.load();
      await page.reaches("success");
      await page.click("Close panel");
      await page.page.locator(".panel").waitFor({ state: "detached" });
      await page.click("Open panel");
      await page.reaches("success");
      assert.equal(page.hits.length, 2);
    });

    visit("another address takes the place of the one before", ["stall", REPORT], async (page) => {
      await page.load();
      await until(() => page.hits.length === 1);
      await page.click("Load report");
      await page.reaches("success");
      await until(() => page.hits[0].aborted);
      assert.deepEqual(
        page.hits.map(({ url }) => url.replace(/.*load=/, "")),
        ["1", "2"],
      );
    });

    outbox("lists what was posted offline, until it is delivered", [], async (page) => {
      page.answersPosts(201);
      await page.page.context().setOffline(true);
      await page.click("Post comment");
      await page.click("Post comment");
      await page.sees(page.comment("Comment 1: kept until you are online"));
      await page.sees(page.page.getByText("2 not delivered yet, 0 refused"));
      if (cutsNetwork) assert.equal(page.posts.length, 0);
      await page.page.context().setOffline(false);
      await until(async () => {
        await page.passes(500);
        return (await page.page.locator(".comments li").count()) === 0;
      });
      await page.sees(page.page.getByText("0 not delivered yet, 0 refused"));
      assert.deepEqual(
        page.posts.map(({ text }) => text),
        ["Comment 1", "Comment 2"],
      );
    });

    outbox("renders for a tick of the outbox only what shows it, once", [], async (page) => {
      page.answersPosts({ status: 503, retryAfter: 8 });
      await page.click("Post comment");
      await page.click("Post comment");
      await page.sees(page.comment(/Comment 1: sent again in [78]\ss/));
      await page.sees(page.comment("Comment 2: queued"));
      const { comments: before, kept: keptBefore, ...othersBefore } = await page.renders();
      await page.passes(4_500);
      await page.sees(page.comment(/Comment 1: sent again in [34]\ss/));
      const { comments, kept, ...others } = await page.renders();
      assert.ok(comments >= before + 4, `the list was rendered ${comments - before} times`);
      assert.ok(comments <= before + 12, `the list was rendered ${comments - before} times`);
      assert.ok(kept <= keptBefore + 6, `the line was rendered ${kept - keptBefore} times`);
      assert.deepEqual(others, othersBefore);
    });

    outbox("shows what the server refused, and takes it back on a click", [], async (page) => {
      page.answersPosts(422);
      await page.click("Post comment");
      await page.sees(page.comment("Comment 1: refused with 422"));
      await page.sees(page.page.getByText("0 not delivered yet, 1 refused"));
      await page.click("Take back");
      await page.sees(page.page.getByText("0 not delivered yet, 0 refused"));
      assert.equal(await page.page.locator(".comments li").count(), 0);
    });

    visit("tells of an open circuit and of how many calls there are", [500], async (page) => {
      await page.load();
      for (let attempt = 1; attempt < 5; attempt++) {
        await page.reaches("waiting");
        await page.sees(page.page.getByText("0 loading, 1 waiting"));
        await page.click("Try now");
        await until(() => page.hits.length > attempt);
      }
      await page.reaches("exhausted");
      await page.sees(page.page.getByText("Problems connecting: next check in 30 s."));
      await page.passes(1_000);
      await page.sees(page.page.getByText("Problems connecting: next check in 29 s."));
    });
  });
}
