// <steadfetch-status> of the packed package: with stand-ins for calls on a clock that stands still, and with
// real calls against a real server.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { except, launch } from "./support/browser.mjs";
import { CALLS, CLIENTS, NOW, standIns } from "./support/element.mjs";
import { blank, install, packageFiles } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

/** With the element in it, and a policy that allows no inline style. */
const PAGE = {
  headers: {
    "Content-Type": "text/html",
    "Content-Security-Policy":
      "default-src 'none'; img-src data:; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-inline'; style-src 'self'",
  },
  body: (head) => `${blank(head)}<body><main><h1>Page</h1><steadfetch-status></steadfetch-status></main>`,
};
const AXE = fileURLToPath(import.meta.resolve("axe-core/axe.min.js"));
/** Long enough for an announcement, and too short for a second to pass. */
const A_MOMENT = 200;
const WAITING = CALLS["waiting, answered"][0];
const STATES = Object.entries(CALLS);

let files;
let server;
let faults;

before(async () => {
  files = await packageFiles({ "/": PAGE });
  server = await startServer({ files });
});
after(() => server.close());

/** A page with the element in it and the stand-ins around it. */
async function open({ how = {}, clock = "stands", url = server.url, before } = {}) {
  const context = await (await launch()).newContext({ locale: "en-US", ...how });
  if (clock === "stands") {
    await context.clock.install({ time: NOW - 60_000 });
    await context.clock.pauseAt(NOW);
  } else if (clock === "date stands") await context.clock.setFixedTime(NOW);
  const page = await context.newPage();
  faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) faults.push(message.text());
  });
  await page.goto(url);
  if (before) await page.evaluate(before);
  await page.evaluate(() => import("steadfetch/element"));
  await page.evaluate(standIns);
  return page;
}

const close = (page) => page.context().close();
const show = (page, state) =>
  page.evaluate((state) => {
    globalThis.call = stand.call(state);
    element.call = call;
  }, state);
const set = (page, state) => page.evaluate((state) => call.set(state), state);
const shown = (page) => page.evaluate(() => shown());
const offered = (page) => page.evaluate(() => offered());
const passes = (page, ms) => page.clock.runFor(ms);
const button = (page, name) => page.getByRole("button", { name, exact: true });
const focused = (page) =>
  page.evaluate(() => document.activeElement.shadowRoot?.activeElement.className ?? document.activeElement.tagName);

/** Tests that share a page: each sets its own call. */
function onePage(options, body) {
  let page;
  before(async () => {
    page = await open(options);
  });
  beforeEach(() => {
    faults = [];
  });
  afterEach(() => assert.deepEqual(faults, []));
  after(() => close(page));
  body(() => page);
}

/** A test on a page of its own. */
function alone(name, { except: reasons, ...options }, visit) {
  test(name, { timeout: 30_000, ...except(reasons) }, async () => {
    const page = await open(options);
    try {
      await visit(page);
      assert.deepEqual(faults, []);
    } finally {
      await close(page);
    }
  });
}

describe("what is said of a call", () => {
  onePage({}, (page) => {
    for (const [language, at] of [
      ["en", 1],
      ["es", 2],
    ]) {
      for (const [name, states] of STATES) {
        test(`${name}, in ${language}`, async () => {
          await page().evaluate((lang) => (element.lang = lang), language);
          await show(page(), states[0]);
          assert.equal(await shown(page()), states[at]);
        });
      }
    }
    for (const [name, [state, , , buttons]] of STATES) {
      test(`${name}: the buttons`, async () => {
        await show(page(), state);
        assert.equal(await offered(page()), buttons);
      });
    }
    for (const [name, [state]] of STATES) {
      test(`${name}: the attribute status`, async () => {
        await show(page(), state);
        assert.equal(await page().evaluate(() => element.getAttribute("status")), state.status);
      });
    }
    test("nothing, where there is no call", async () => {
      await page().evaluate(() => (element.call = null));
      assert.deepEqual(await page().evaluate(() => [shown(), element.hasAttribute("status"), element.offsetHeight]), [
        null,
        false,
        0,
      ]);
    });
    test("nothing, of a state that this version does not know", async () => {
      await show(page(), { ...WAITING, status: "pondering" });
      assert.equal(await shown(page()), null);
    });
    test("no more than the failure, for a reason that this version does not know", async () => {
      await page().evaluate(() => (element.lang = "en"));
      await show(page(), { ...CALLS["failed, status"][0], reason: "moon" });
      assert.equal(await shown(page()), "The request failed");
    });
  });
});

describe("what is said of a client", () => {
  onePage({}, (page) => {
    for (const [language, at] of [
      ["en", 1],
      ["es", 2],
    ]) {
      for (const [name, lines] of Object.entries(CLIENTS)) {
        test(`${name}, in ${language}`, async () => {
          await page().evaluate(
            ([lang, snapshot]) => {
              element.lang = lang;
              element.client = stand.client(snapshot);
            },
            [language, lines[0]],
          );
          assert.equal(await shown(page()), lines[at]);
        });
      }
    }
    const client = (name, calls = []) =>
      page().evaluate(
        ([snapshot, states]) => {
          element.lang = "en";
          globalThis.client = stand.client(snapshot);
          element.client = client;
          globalThis.calls = states.map((state) => stand.call(state));
          for (const call of calls) client.begin(call);
        },
        [CLIENTS[name][0], calls.map((call) => CALLS[call][0])],
      );
    const clicked = () => page().evaluate(() => calls.map((call) => call.clicked.join()));

    test("no buttons, while no call waits", async () => {
      await client("several calls wait", ["loading", "success"]);
      assert.equal(await offered(page()), "");
    });
    test('"Try now" is for all calls that wait', async () => {
      await client("several calls wait", ["waiting, answered", "loading", "offline", "circuit-open, queued"]);
      await button(page(), "Try now").click();
      assert.deepEqual(await clicked(), ["retryNow", "", "retryNow", "retryNow"]);
    });
    test('"Cancel all" is for all calls that wait', async () => {
      await client("several calls wait", ["waiting, answered", "loading", "offline"]);
      await button(page(), "Cancel all").click();
      assert.deepEqual(await clicked(), ["cancel", "", "cancel"]);
    });
    test('"Cancel" it is for one', async () => {
      await client("one call waits", ["waiting, answered"]);
      await button(page(), "Cancel").click();
      assert.deepEqual(await clicked(), ["cancel"]);
    });
    test('"Try now" rests where it would have no effect', async () => {
      await client("a circuit under its check", ["circuit-open, queued behind a check"]);
      assert.equal(await offered(page()), "(now) cancel");
    });
    test("a call that waits no more is none of them", async () => {
      await client("several calls wait", ["waiting, answered", "offline"]);
      await page().evaluate((state) => calls[0].set(state), CALLS.success[0]);
      await button(page(), "Try now").click();
      assert.deepEqual(await clicked(), ["", "retryNow"]);
    });
    test("each second once", async () => {
      await client("one call waits");
      await page().evaluate(() => {
        globalThis.details = [];
        const detail = element.shadowRoot.querySelector(".detail");
        new MutationObserver(() => details.push(detail.textContent)).observe(detail, { childList: true });
      });
      await passes(page(), 10_000);
      assert.deepEqual(await page().evaluate(() => details), ["Next try in 2 seconds.", "Next try in 1 second.", ""]);
    });
  });

  alone("each kind of trouble is announced once, whatever its numbers", {}, async (page) => {
    const tell = (name) => page.evaluate((snapshot) => client.set(snapshot), CLIENTS[name][0]);
    await page.evaluate((snapshot) => {
      globalThis.client = stand.client(snapshot);
      element.client = client;
    }, CLIENTS["one call waits"][0]);
    await passes(page, A_MOMENT);
    await tell("several calls wait");
    await passes(page, A_MOMENT);
    await tell("all is well");
    await passes(page, A_MOMENT);
    await tell("offline");
    await passes(page, A_MOMENT);
    assert.deepEqual(await page.evaluate(() => heard), [
      "1 request is waiting. Next try in 3 seconds.",
      "You are offline",
    ]);
  });
});

describe("the countdown", () => {
  alone("shows each second once, without any help of the call", {}, async (page) => {
    await show(page, { ...WAITING, maxAttempts: 2, retryAt: NOW + 4300, remaining: 4300 });
    await passes(page, 60_000);
    assert.deepEqual(
      await page.evaluate(() => seen),
      [5, 4, 3, 2, 1].map((n) => `Trying again in ${n} second${n === 1 ? "" : "s"} (attempt 2 of 2)`),
    );
  });

  alone("shows each second once, where the call ticks as well", {}, async (page) => {
    await show(page, { ...WAITING, retryAt: NOW + 3000, remaining: 3000 });
    for (const remaining of [2000, 1000]) {
      await passes(page, 997);
      await set(page, { ...WAITING, retryAt: NOW + 3000, remaining });
      await passes(page, 3);
    }
    assert.deepEqual(await page.evaluate(() => seen.map((text) => text.match(/\d+/)[0])), ["3", "2", "1"]);
  });

  alone("is right from the start, where `remaining` is old because nobody had looked", {}, async (page) => {
    await show(page, { ...WAITING, retryAt: NOW + 2000, remaining: 8000 });
    assert.match(await shown(page), /in 2 seconds/);
  });

  alone("is right, where the clock was set back", {}, async (page) => {
    await show(page, { ...WAITING, retryAt: NOW + 3_600_000, remaining: 8000 });
    assert.match(await shown(page), /in 8 seconds/);
  });

  alone("of a refused call ends in the news that it can be tried again", {}, async (page) => {
    await show(page, CALLS["circuit-open, refused"][0]);
    await passes(page, 29_500);
    assert.match(await shown(page), /in 1 second /);
    await passes(page, 500);
    assert.match(await shown(page), /you can try again now/);
  });

  alone("sets no timer in a page that is hidden, and is right when it is shown again", {}, async (page) => {
    await show(page, WAITING);
    await page.evaluate(() => {
      globalThis.visible = "hidden";
      Object.defineProperty(document, "visibilityState", { get: () => visible });
      document.dispatchEvent(new Event("visibilitychange"));
      seen.length = 0;
    });
    await passes(page, 3000);
    assert.deepEqual(await page.evaluate(() => seen), []);
    await page.evaluate(() => {
      visible = "visible";
      document.dispatchEvent(new Event("visibilitychange"));
    });
    assert.match(await shown(page), /in 5 seconds/);
  });
});

describe("announcements", () => {
  alone("come once per state and not once per second", {}, async (page) => {
    await show(page, WAITING);
    await passes(page, 7900);
    await set(page, { ...CALLS.loading[0], attempt: 2, since: NOW + 8000 });
    await passes(page, 2000);
    await set(page, { ...CALLS["exhausted, limit"][0], since: NOW + 10_000 });
    await passes(page, 20_000);
    assert.deepEqual(await page.evaluate(() => heard), [
      "Trying again in 8 seconds (attempt 2 of 5). The server answered 503.",
      "Loading (attempt 2 of 5)",
      "Stopped trying. The server answered 503. Tried 5 times.",
    ]);
  });

  alone("leave out states that are over at once", {}, async (page) => {
    await show(page, CALLS.loading[0]);
    await passes(page, 20);
    await set(page, CALLS.success[0]);
    await passes(page, A_MOMENT);
    assert.deepEqual(await page.evaluate(() => heard), ["Done"]);
  });

  alone("are made in a polite live region, and all else is outside of it", {}, async (page) => {
    await show(page, WAITING);
    const regions = await page.evaluate(() =>
      [...element.shadowRoot.querySelectorAll("[role], [aria-live]")].map((node) => [
        node.getAttribute("role"),
        node.ariaLive,
        node.childElementCount,
      ]),
    );
    assert.deepEqual(regions, [["status", null, 0]]);
  });

  alone("do not stay, for what they said is soon not so any more", {}, async (page) => {
    await show(page, WAITING);
    await passes(page, 6000);
    assert.equal(await page.evaluate(() => element.shadowRoot.querySelector(".live").textContent), "");
  });

  alone("are not repeated when the element is moved", {}, async (page) => {
    await show(page, WAITING);
    await passes(page, A_MOMENT);
    await page.evaluate(() => document.body.prepend(element));
    await passes(page, A_MOMENT);
    assert.equal(await page.evaluate(() => heard.length), 1);
  });
});

describe("buttons", () => {
  onePage({}, (page) => {
    const clicked = () => page().evaluate(() => call.clicked.join());
    for (const [state, name, method] of [
      ["waiting, answered", "Try now", "retryNow"],
      ["offline", "Try now", "retryNow"],
      ["circuit-open, queued", "Try now", "retryNow"],
      ["loading", "Cancel", "cancel"],
      ["waiting, answered", "Cancel", "cancel"],
      ["exhausted and held", "Cancel", "cancel"],
      ["exhausted and held", "Try again", "retry"],
      ["failed, status", "Try again", "retry"],
      ["cancelled", "Try again", "retry"],
      ["circuit-open, refused", "Try again", "retry"],
    ]) {
      test(`${state}: "${name}" calls ${method}()`, async () => {
        await show(page(), CALLS[state][0]);
        await button(page(), name).click();
        assert.equal(await clicked(), method);
      });
    }
    test("one that rests does nothing", async () => {
      await show(page(), CALLS.loading[0]);
      await button(page(), "Try now").click({ force: true });
      assert.equal(await clicked(), "");
    });
    test("tell the page first, which may say no", async () => {
      await show(page(), WAITING);
      const told = await page().evaluate(() => {
        const told = [];
        const hear = (event) => {
          told.push([event.type, event.target === element, event.detail.calls[0] === call]);
          event.preventDefault();
        };
        for (const name of ["try-now", "cancel", "try-again"]) document.addEventListener(`steadfetch-${name}`, hear);
        for (const name of ["again", "cancel"]) element.shadowRoot.querySelector(`.${name}`).click();
        for (const name of ["try-now", "cancel", "try-again"]) document.removeEventListener(`steadfetch-${name}`, hear);
        return told;
      });
      assert.deepEqual(told, [
        ["steadfetch-try-now", true, true],
        ["steadfetch-cancel", true, true],
      ]);
      assert.equal(await clicked(), "");
    });
  });
});

describe("the focus", () => {
  onePage({}, (page) => {
    const press = async (name, then) => {
      await button(page(), name).focus();
      await set(page(), then);
    };
    test("stays on a button that rests for a while", async () => {
      await show(page(), WAITING);
      await press("Try now", CALLS.loading[0]);
      assert.equal(await focused(page()), "again");
    });
    test("goes from Cancel to Try again when the call is over", async () => {
      await show(page(), CALLS.loading[0]);
      await press("Cancel", CALLS.cancelled[0]);
      assert.equal(await focused(page()), "again");
    });
    test("goes to the words where no button is left", async () => {
      await show(page(), CALLS.loading[0]);
      await press("Cancel", CALLS.success[0]);
      assert.equal(await focused(page()), "main");
    });
    test("is not taken from elsewhere", async () => {
      await show(page(), CALLS.loading[0]);
      await page().evaluate(() => element.shadowRoot.activeElement.blur());
      await set(page(), CALLS.cancelled[0]);
      assert.equal(await focused(page()), "BODY");
    });
    const cancels = async () => {
      await show(page(), CALLS.loading[0]);
      await page().evaluate((over) => {
        call.cancel = () => call.set(over);
      }, CALLS.cancelled[0]);
    };
    const clicked = () => page().evaluate(() => call.clicked.join());
    test("was moved: a key that is held down does not try again what it has just cancelled", async () => {
      await cancels();
      await button(page(), "Cancel").focus();
      for (let i = 0; i < 3; i++) await page().keyboard.down("Enter");
      await page().keyboard.up("Enter");
      assert.equal(await clicked(), "");
      await page().keyboard.press("Enter");
      assert.equal(await clicked(), "retry");
    });
    test("matters not to a double click, which does not do so either", async () => {
      await cancels();
      await button(page(), "Cancel").dblclick();
      assert.equal(await clicked(), "");
    });
  });
});

for (const colorScheme of ["light", "dark"]) {
  describe(`axe finds nothing, ${colorScheme}`, () => {
    onePage({ how: { colorScheme }, clock: "date stands" }, (page) => {
      before(async () => {
        await page().evaluate(() => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(":root { color-scheme: light dark; color: CanvasText; background: Canvas }");
          document.adoptedStyleSheets = [sheet];
        });
        await page().addScriptTag({ path: AXE });
      });
      const found = () =>
        page().evaluate(async () => {
          const { violations, incomplete } = await axe.run();
          return [...violations, ...incomplete].flatMap(({ id, nodes }) => nodes.map((node) => [id, node.html]));
        });
      for (const [name, [state]] of STATES) {
        test(name, async () => {
          await show(page(), state);
          assert.deepEqual(await found(), []);
        });
      }
      for (const [name, [snapshot]] of Object.entries(CLIENTS)) {
        test(`client: ${name}`, async () => {
          await page().evaluate(
            ([snapshot, state]) => {
              const client = stand.client(snapshot);
              element.client = client;
              client.begin(stand.call(state));
            },
            [snapshot, WAITING],
          );
          assert.deepEqual(await found(), []);
        });
      }
    });
  });
}

const PHONE = {
  how: { viewport: { width: 320, height: 640 } },
  except: { webkit: "the window of its MiniBrowser is no narrower than its tool bar" },
};

describe("looks", () => {
  const style = (page, selector, name, pseudo) =>
    page.evaluate(
      ([selector, name, pseudo]) => getComputedStyle(element.shadowRoot.querySelector(selector), pseudo)[name],
      [selector, name, pseudo],
    );

  alone(
    "in forced colours buttons have a border and a text that the background sets off",
    { how: { forcedColors: "active" }, except: { webkit: "has no forced colours" } },
    async (page) => {
      await show(page, WAITING);
      for (const selector of [".again", ".cancel"]) {
        const [border, width, text, background] = await Promise.all(
          ["borderTopColor", "borderTopWidth", "color", "backgroundColor"].map((name) => style(page, selector, name)),
        );
        assert.notEqual(border, background);
        assert.notEqual(text, background);
        assert.equal(width, "1px");
      }
    },
  );

  for (const [motion, animation] of [
    ["reduce", "none"],
    ["no-preference", "turn"],
  ]) {
    alone(
      `with prefers-reduced-motion: ${motion} the animation is ${animation}`,
      { how: { reducedMotion: motion } },
      async (page) => {
        await show(page, CALLS.loading[0]);
        assert.equal(await style(page, ".icon", "animationName"), animation);
      },
    );
  }

  alone("from right to left everything is mirrored, and an English sentence keeps its own order", {}, async (page) => {
    await page.evaluate(() => (document.documentElement.dir = "rtl"));
    await show(page, WAITING);
    const left = (selector) =>
      page.evaluate((s) => element.shadowRoot.querySelector(s).getBoundingClientRect().left, selector);
    assert.ok((await left(".icon")) > (await left(".words")));
    assert.ok((await left(".words")) > (await left(".again")));
    assert.ok((await left(".again")) > (await left(".cancel")));
    assert.equal(await style(page, ".headline", "unicodeBidi"), "plaintext");
    assert.equal(await style(page, ".headline", "textAlign"), "right");
    const right = (selector) =>
      page.evaluate((s) => element.shadowRoot.querySelector(s).getBoundingClientRect().right, selector);
    assert.ok(Math.abs((await right(".headline")) - (await right(".words"))) < 0.1);
  });

  alone("no state is wider than a phone", PHONE, async (page) => {
    for (const language of ["en", "es"]) {
      await page.evaluate((lang) => (element.lang = lang), language);
      for (const [name, [state]] of STATES) {
        await show(page, state);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, name);
      }
    }
  });

  alone("a second click where Try again was does not hit Cancel", {}, async (page) => {
    await show(page, STATES.find(([name]) => name.startsWith("exhausted"))[1][0]);
    const middle = await page.evaluate(() => {
      const { x, y, width, height } = element.shadowRoot.querySelector(".again").getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    });
    for (const state of [CALLS.loading[0], WAITING]) {
      await show(page, state);
      const hit = await page.evaluate(([x, y]) => element.shadowRoot.elementFromPoint(x, y).className, middle);
      assert.equal(hit, "again");
    }
  });

  alone("are taken along into another document, which is listened to in the place of the first", {}, async (page) => {
    await show(page, WAITING);
    const found = await page.evaluate(async () => {
      const frame = document.createElement("iframe");
      document.body.append(frame);
      const inner = frame.contentDocument;
      const heard = [];
      for (const page of [document, inner]) {
        const { addEventListener, removeEventListener } = page;
        page.addEventListener = (...args) => {
          heard.push(page === inner ? "+inner" : "+outer");
          addEventListener.apply(page, args);
        };
        page.removeEventListener = (...args) => {
          heard.push(page === inner ? "-inner" : "-outer");
          removeEventListener.apply(page, args);
        };
      }
      const looks = () => {
        const view = element.ownerDocument.defaultView;
        return view.getComputedStyle(element.shadowRoot.querySelector(".box")).display;
      };
      const seen = [looks()];
      inner.body.append(element);
      seen.push(looks());
      document.body.append(element);
      seen.push(looks());
      return [seen, heard];
    });
    assert.deepEqual(found, [
      ["flex", "flex", "flex"],
      ["-outer", "+inner", "-inner", "+outer"],
    ]);
  });

  alone("parts and custom properties are the page's to set", {}, async (page) => {
    await show(page, WAITING);
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(
        "steadfetch-status { --steadfetch-wait: rgb(1, 2, 3) } steadfetch-status::part(cancel) { color: rgb(4, 5, 6) }",
      );
      document.adoptedStyleSheets = [sheet];
    });
    assert.equal(await style(page, ".icon", "borderTopColor"), "rgb(1, 2, 3)");
    assert.equal(await style(page, ".cancel", "color"), "rgb(4, 5, 6)");
  });

  alone("a child in the slot of a state takes the place of the words in that state only", {}, async (page) => {
    await page.evaluate(() => {
      const child = document.createElement("p");
      child.slot = "failed";
      child.textContent = "Ours";
      element.append(child);
    });
    const ours = page.getByText("Ours");
    await show(page, WAITING);
    assert.deepEqual(
      [await ours.isVisible(), await page.getByText("The server answered 503.").isVisible()],
      [false, true],
    );
    await set(page, CALLS["failed, status"][0]);
    assert.deepEqual([await ours.isVisible(), await page.getByText("The request failed").isVisible()], [true, false]);
  });

  alone("the slots icon and actions are filled in every state", {}, async (page) => {
    await page.evaluate(() => {
      for (const name of ["icon", "actions"]) {
        const child = document.createElement("i");
        child.slot = name;
        child.textContent = name;
        element.append(child);
      }
    });
    await show(page, CALLS.success[0]);
    assert.deepEqual(
      [await page.getByText("icon").isVisible(), await page.getByText("actions").isVisible()],
      [true, true],
    );
  });
});

describe("language", () => {
  const mexican = { how: { locale: "es-MX" }, except: { webkit: "has no language but that of an installed locale" } };
  alone("is that of the browser where nothing says another", mexican, async (page) => {
    await page.evaluate(() => document.documentElement.removeAttribute("lang"));
    await show(page, CALLS.success[0]);
    assert.equal(await shown(page), "Listo");
  });

  alone("is that of the nearest lang, across the border of a shadow tree", {}, async (page) => {
    await show(page, CALLS.success[0]);
    await page.evaluate(() => {
      const host = document.createElement("div");
      host.lang = "es-AR";
      host.attachShadow({ mode: "open" }).append(element);
      document.body.append(host);
    });
    assert.equal(await shown(page), "Listo");
  });

  alone("follows that of the page", {}, async (page) => {
    await show(page, CALLS.success[0]);
    await page.evaluate(() => (document.documentElement.lang = "es"));
    assert.equal(await shown(page), "Listo");
  });

  alone("follows that of whatever is around it", {}, async (page) => {
    await page.evaluate(() => {
      const around = document.createElement("section");
      element.replaceWith(around);
      around.append(element);
    });
    await show(page, WAITING);
    await page.evaluate(() => (element.parentElement.lang = "es"));
    assert.match(await shown(page), /^Se volverá a intentar/);
  });

  alone("is English throughout, and marked so, where it is not built in", {}, async (page) => {
    await page.evaluate(() => (document.documentElement.lang = "fr"));
    await show(page, WAITING);
    assert.match(await shown(page), /in 8 seconds/);
    assert.equal(await page.evaluate(() => element.shadowRoot.querySelector(".box").lang), "en");
  });

  alone("may be what no language is called", {}, async (page) => {
    await page.evaluate(() => (document.documentElement.lang = "es_??"));
    await show(page, WAITING);
    assert.match(await shown(page), /in 8 seconds/);
  });

  alone("of messages is that of the page, with its numbers and plurals", {}, async (page) => {
    await page.evaluate(() => {
      document.documentElement.lang = "pl";
      element.messages = {
        waiting: "Kolejna próba za {time} ({attempt}/{max})",
        limit: { one: "{count} próba.", few: "{count} próby.", other: "{count} prób." },
      };
    });
    await show(page, WAITING);
    assert.match(await shown(page), /^Kolejna próba za 8 sekund \(2\/5\)/);
    for (const [attempt, text] of [
      [1, "1 próba."],
      [3, "3 próby."],
      [5, "5 prób."],
    ]) {
      await set(page, { ...CALLS["exhausted, limit"][0], attempt });
      assert.ok((await shown(page)).endsWith(text));
    }
  });
});

describe("messages", () => {
  onePage({}, (page) => {
    test("take the place of some texts and leave the others", async () => {
      await show(page(), CALLS.success[0]);
      await page().evaluate(() => (element.messages = { success: "Saved", tryAgain: undefined }));
      assert.equal(await shown(page()), "Saved");
      await set(page(), CALLS.cancelled[0]);
      assert.equal(await button(page(), "Try again").count(), 1);
    });
    test("are text and no markup", async () => {
      await page().evaluate(() => (element.messages = { cancelled: "<b>{status}</b>" }));
      await show(page(), { ...CALLS.cancelled[0], failures: [{ kind: "status", status: "<img src=x>" }] });
      assert.equal(await shown(page()), "<b><img src=x></b>");
    });
    test("are taken back with null", async () => {
      await page().evaluate(() => (element.messages = null));
      await show(page(), CALLS.success[0]);
      assert.equal(await shown(page()), "Done");
    });
    for (const garbage of [
      1,
      "text",
      { success: 1 },
      { success: null },
      { limit: { one: "x" } },
      { limit: { other: 2 } },
    ]) {
      test(`${JSON.stringify(garbage)} is a TypeError`, async () => {
        const error = await page().evaluate((value) => {
          try {
            element.messages = value;
          } catch (error) {
            return `${error.name}: ${error.message}`;
          }
        }, garbage);
        assert.match(error, /^TypeError: steadfetch: element\.messages/);
      });
    }
  });
});

describe("what it follows", () => {
  onePage({}, (page) => {
    for (const property of ["call", "client"]) {
      for (const garbage of ["1", '"text"', "{}", "[]", "true", "Promise.resolve()", "() => {}", "fetch"]) {
        test(`${property} = ${garbage} is a TypeError, and changes nothing`, async () => {
          await show(page(), WAITING);
          const result = await page().evaluate(`
            (() => { try { element.${property} = ${garbage} } catch (error) { return [error.name, element.call === call] } })()
          `);
          assert.deepEqual(result, ["TypeError", true]);
        });
      }
    }
    test("a client is no call", async () => {
      const name = await page().evaluate(() => {
        try {
          element.call = stand.client({});
        } catch (error) {
          return error.name;
        }
      });
      assert.equal(name, "TypeError");
    });

    const listeners = (what) => page().evaluate((name) => globalThis[name].listeners.size, what);
    test("another call takes the place of the first, which is not cancelled", async () => {
      await show(page(), WAITING);
      await page().evaluate(() => void (globalThis.first = call));
      await show(page(), CALLS.success[0]);
      assert.equal(await shown(page()), "Done");
      assert.deepEqual([await listeners("first"), await page().evaluate(() => first.clicked.length)], [0, 0]);
    });
    test("a client takes the place of a call, and the other way round", async () => {
      await show(page(), WAITING);
      await page().evaluate((snapshot) => void (element.client = stand.client(snapshot)), CLIENTS.offline[0]);
      assert.deepEqual([await shown(page()), await listeners("call")], ["You are offline", 0]);
      assert.equal(await page().evaluate(() => element.call), null);
      await show(page(), WAITING);
      assert.equal(await page().evaluate(() => element.client), null);
    });
    test("no call any more leaves a client alone", async () => {
      await page().evaluate((snapshot) => void (element.client = stand.client(snapshot)), CLIENTS.offline[0]);
      await page().evaluate(() => (element.call = undefined));
      assert.equal(await shown(page()), "You are offline");
    });
    test("the same call again is no news to it", async () => {
      await show(page(), WAITING);
      await page().evaluate(() => {
        globalThis.asked = 0;
        const { subscribe } = call;
        call.subscribe = (listener) => subscribe(listener, asked++);
        element.call = call;
      });
      assert.equal(await page().evaluate(() => asked), 0);
    });
    test("out of the page it listens to nothing and cancels nothing; back in, it shows what is so now", async () => {
      await show(page(), WAITING);
      await page().evaluate(() => {
        globalThis.parent = element.parentNode;
        element.remove();
      });
      assert.deepEqual([await listeners("call"), await page().evaluate(() => call.clicked.length)], [0, 0]);
      await set(page(), CALLS.success[0]);
      await page().evaluate(() => document.querySelector("main").append(element));
      assert.deepEqual([await shown(page()), await listeners("call")], ["Done", 1]);
    });
    test("moved, it goes on", async () => {
      await show(page(), WAITING);
      await page().evaluate(() => document.querySelector("main").prepend(element));
      assert.match(await shown(page()), /in \d seconds/);
      assert.equal(await listeners("call"), 1);
    });
    test("a call can be given before the element is in the page", async () => {
      const text = await page().evaluate((state) => {
        const other = document.createElement("steadfetch-status");
        const call = stand.call(state);
        other.call = call;
        const before = call.listeners.size;
        document.body.append(other);
        const text = other.shadowRoot.querySelector(".headline").textContent;
        other.remove();
        return [before, text];
      }, CALLS.success[0]);
      assert.deepEqual(text, [0, "Done"]);
    });
  });

  const early = () => {
    document.querySelector("steadfetch-status").messages = { idle: "Early" };
    document.querySelector("steadfetch-status").call = {
      subscribe: (listener) => listener() ?? (() => {}),
      getSnapshot: () => ({ status: "idle", failures: [] }),
      retryNow() {},
      retry() {},
      cancel() {},
    };
  };
  alone("what was set before the element was defined counts", { before: early }, async (page) => {
    assert.equal(await shown(page), "Early");
  });
});

describe("the registration", () => {
  onePage({}, (page) => {
    test("happens on import, and can be asked for again", async () => {
      const result = await page().evaluate(async () => {
        const { defineSteadfetchStatus, SteadfetchStatus } = await import("steadfetch/element");
        defineSteadfetchStatus();
        return [element instanceof SteadfetchStatus, customElements.get("steadfetch-status") === SteadfetchStatus];
      });
      assert.deepEqual(result, [true, true]);
    });
    test("of another name is another element of the same kind", async () => {
      const result = await page().evaluate(async () => {
        const { defineSteadfetchStatus, SteadfetchStatus } = await import("steadfetch/element");
        for (let i = 0; i < 2; i++) defineSteadfetchStatus("my-status");
        return document.createElement("my-status") instanceof SteadfetchStatus;
      });
      assert.equal(result, true);
    });
    test("of a second copy of the package leaves the first in its place", async () => {
      const same = await page().evaluate(async () => {
        const first = customElements.get("steadfetch-status");
        const copy = await import("/steadfetch/dist/element.js?copy");
        return [copy.SteadfetchStatus !== first, customElements.get("steadfetch-status") === first];
      });
      assert.deepEqual(same, [true, true]);
    });
  });

  test("does not happen on a server, where importing does no harm", async () => {
    const script = `import { defineSteadfetchStatus, SteadfetchStatus } from "steadfetch/element";
      defineSteadfetchStatus();
      console.log(typeof SteadfetchStatus);`;
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: await install() });
    assert.equal(stdout.trim(), "function");
  });
});

describe("with real calls", () => {
  const real = (name, visit) =>
    test(name, { timeout: 30_000 }, async () => {
      const own = await startServer({ files });
      const page = await open({ clock: "runs", url: own.url });
      try {
        await visit(page, own);
        assert.deepEqual(faults, []);
      } finally {
        await close(page);
        await own.close();
      }
    });
  const start = (page, options) =>
    page.evaluate(async (options) => {
      const { createFetch } = await import("steadfetch");
      globalThis.client = createFetch({ retry: { jitter: "none", delay: 60_000, backoffLimit: 60_000 }, ...options });
      element.call = globalThis.call = client.start("/x");
    }, options);
  const reaches = (page, pattern) => until(async () => pattern.test((await shown(page)) ?? ""));

  real("a wait shows each second once, then the end", async (page, server) => {
    server.script("/x", [503, 200]);
    await start(page, { retry: { jitter: "none", delay: 3000 } });
    await reaches(page, /^Done/);
    assert.deepEqual(await page.evaluate(() => seen), [
      "Loading (attempt 1 of 5)",
      "Trying again in 3 seconds (attempt 2 of 5)",
      "Trying again in 2 seconds (attempt 2 of 5)",
      "Trying again in 1 second (attempt 2 of 5)",
      "Loading (attempt 2 of 5)",
      "Done",
    ]);
  });

  real("a wait without ticks of the call counts down all the same", async (page, server) => {
    server.script("/x", [503, 200]);
    await start(page, { tickInterval: false, retry: { jitter: "none", delay: 2000 } });
    await reaches(page, /^Done/);
    assert.deepEqual((await page.evaluate(() => seen)).map((text) => text.match(/in (\d+)/)?.[1]).filter(Boolean), [
      "2",
      "1",
    ]);
  });

  real('"Try now" sends at once', async (page, server) => {
    server.script("/x", [503, 200]);
    await start(page);
    await button(page, "Try now").and(page.locator("[aria-disabled=false]")).click();
    await reaches(page, /^Done/);
    assert.equal(server.hits("/x").length, 2);
  });

  real('"Cancel" cancels, and "Try again" sends again', async (page, server) => {
    server.script("/x", [503, 200]);
    await start(page);
    await reaches(page, /^Trying again/);
    await button(page, "Cancel").click();
    await reaches(page, /^Cancelled/);
    await page.waitForTimeout(600);
    await button(page, "Try again").click();
    await reaches(page, /^Done/);
  });

  real("taking the element out of the page does not cancel the call", async (page, server) => {
    server.script("/x", [{ status: 200, delay: 200 }]);
    await start(page);
    await page.evaluate(() => element.remove());
    assert.equal(await page.evaluate(async () => (await call).status), 200);
  });

  real("a client shows its open circuit, and then nothing", async (page, server) => {
    server.script("/x", [503, 503, 200]);
    await start(page, { retry: false, breaker: { consecutiveFailures: 2, halfOpenAfter: 1000 } });
    await page.evaluate(async () => {
      element.client = client;
      await client("/x");
    });
    await reaches(page, /^Problems connecting: next check in 1 second/);
    await reaches(page, /^Problems connecting: the next request will check the server/);
    await page.evaluate(() => client("/x"));
    await until(async () => (await shown(page)) === null);
  });

  real('of a client "Try now" sends what waits, be it of start() or not, and since before', async (page, server) => {
    server.script("/x", [503, 503, 200]);
    await page.evaluate(async () => {
      const { createFetch } = await import("steadfetch");
      globalThis.client = createFetch({ retry: { jitter: "none", delay: 60_000, backoffLimit: 60_000 } });
      client.start("/x");
      void client("/x");
    });
    await page.waitForFunction(() => client.getSnapshot().waiting === 2);
    await page.evaluate(() => {
      element.client = client;
    });
    await reaches(page, /^2 requests are waiting/);
    await button(page, "Try now").click();
    // That they are sent, and not only about to be.
    await until(() => server.hits("/x").length >= 4);
    await until(async () => (await shown(page)) === null);
    assert.equal(server.hits("/x").length, 4);
  });

  real("a client shows that the browser is offline, and its calls", async (page, server) => {
    server.script("/x", 200);
    await start(page);
    await reaches(page, /^Done/);
    await page.evaluate(() => void (element.client = client));
    await page.context().setOffline(true);
    await reaches(page, /^You are offline/);
    await page.evaluate(() => void client.start("/x"));
    await reaches(page, /1 request goes on/);
    await page.context().setOffline(false);
    await until(async () => (await shown(page)) === null);
  });
});
