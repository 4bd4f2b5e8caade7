// The demo page in a tab of its own, as a visitor has it in front of him.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { engine, launch } from "./browser.mjs";

const PATIENCE = 30_000;
const SERVER = { times: "How often", retryAfter: "Retry-After" };
const CLIENT = {
  limit: "Retries",
  delay: "First delay",
  jitter: "Jitter",
  timeout: "Time limit",
  onCircuitOpen: "While the circuit is open",
};

const SCREEN = { width: 800, height: 600 };
/** Tabs that are not in use, with the clock of the machine and with their own: a new tab takes long. */
const tabs = { false: [], true: [] };

async function openTab(frozen) {
  const context = await (await launch()).newContext();
  context.setDefaultTimeout(PATIENCE);
  if (frozen) {
    await context.clock.install({ time: new Date("2026-01-01T00:00:00Z") });
    await context.clock.pauseAt(new Date("2026-01-01T01:00:00Z"));
  }
  const tab = await context.newPage();
  if (engine !== "chromium") await tab.addInitScript(tellRequests);
  return tab;
}

/** In the page, where the engine does not tell of requests that a service worker answers, or of none. */
function tellRequests() {
  const { fetch } = globalThis;
  globalThis.fetch = (...args) => {
    console.debug(`asked for ${args[0].url ?? args[0]}`);
    return fetch(...args);
  };
}

/**
 * Runs `visit` on a freshly loaded page, and fails if the page had an error or a warning.
 *
 * @param {string} url
 * @param {(demo: Demo) => Promise<unknown>} visit
 * @param {object} [how]
 * @param {boolean} [how.frozen]  time passes in the page only with `demo.passes()`, though the server takes its own
 * @param {"worker" | "stand-in"} [how.server]  which server it waits for
 * @param {{ width: number, height: number }} [how.screen]
 * @param {(tab: import("playwright-core").Page) => Promise<unknown>} [how.before]  makes a new tab special
 */
export async function visitDemo(url, visit, { frozen = false, server = "worker", screen = SCREEN, before } = {}) {
  const tab = (!before && tabs[frozen].pop()) || (await openTab(frozen));
  let again = false;
  try {
    await tab.setViewportSize(screen);
    await before?.(tab);
    const demo = new Demo(tab);
    await tab.goto(url);
    await demo.starts(server);
    await visit(demo);
    assert.deepEqual(demo.faults, [], "the page had errors");
    again = !before;
  } finally {
    tab.removeAllListeners();
    if (again) tabs[frozen].push(tab);
    else await tab.context().close();
  }
}

export class Demo {
  /** The addresses asked for, the page itself among them. */
  asked = [];
  /** Errors and warnings of the page. An attempt that fails is none. */
  faults = [];

  constructor(tab) {
    this.tab = tab;
    if (engine === "chromium") tab.on("request", (request) => this.asked.push(request.url()));
    tab.on("pageerror", (error) => this.faults.push(error.stack));
    tab.on("console", (message) => {
      if (message.text().startsWith("asked for ")) this.asked.push(message.text().slice(10));
      const attempt = /^Failed to load resource/.test(message.text()) && message.location().url.includes("/api/report");
      if (["error", "warning"].includes(message.type()) && !attempt) this.faults.push(message.text());
    });
  }

  /** Waits until the page can be used. */
  async starts(server) {
    await this.tab.locator("#load:enabled").waitFor();
    await this.tab.locator(`#server-note[data-server="${server}"]`).waitFor();
    await this.tab.evaluate(record);
  }

  /** How many requests for the report have left the page. */
  get sent() {
    return this.asked.filter((url) => url.includes("/api/report")).length;
  }

  button(name) {
    return this.tab.getByRole("button", { name, exact: true });
  }

  /** Sets up the server and the client. */
  async choose({ fault, ...choices }) {
    if (fault) await this.tab.getByRole("radio", { name: fault, exact: true }).check();
    const closed = this.tab.locator("#options-card:not([open]) summary");
    if (Object.keys(choices).some((name) => name in CLIENT) && (await closed.count())) await closed.click();
    for (const [name, value] of Object.entries(choices)) {
      const list = this.tab.getByRole("combobox", { name: SERVER[name] ?? CLIENT[name], exact: true });
      await list.selectOption(String(value));
    }
  }

  /** Sets up the server and the client, then loads. */
  async load(choices = {}) {
    await this.choose(choices);
    await this.button("Load report").click();
  }

  /** Waits until the user's card says this, or has said it, however short. */
  async sees(text) {
    const pattern = text.source ?? text.replace(/[().?]/g, "\\$&");
    try {
      await this.tab.waitForFunction((source) => globalThis.heard.words.some((said) => said.match(source)), pattern);
    } catch {
      assert.fail(`waited in vain for "${text}"; the page says: ${await this.words()}`);
    }
  }

  /** Waits until this is the state. */
  async reaches(status) {
    try {
      await this.tab.locator(`#status[data-status="${status}"]`).waitFor();
    } catch {
      assert.fail(`waited in vain for ${status}; the page says: ${await this.words()}`);
    }
  }

  /** Opens the circuit: five loads that fail in a row. */
  async trip() {
    await this.choose({ fault: "500", times: "every", limit: 0 });
    for (let failures = 1; failures <= 5; failures++) {
      await this.button("Load report").click();
      await this.tab.locator(`#circuit[data-failures="${failures}"]`).waitFor();
    }
    await this.reaches("exhausted");
  }

  /** Lets time pass in a page whose clock stands still. */
  passes(ms) {
    return this.tab.context().clock.runFor(ms);
  }

  /** Headline and detail, with plain spaces. */
  words() {
    return this.tab.evaluate(() => globalThis.heard.now());
  }

  text(id) {
    return this.tab.locator(`#${id}`).textContent();
  }

  /** The lines of the time line: name, outcome and time of each stretch. */
  timeLine() {
    return this.tab
      .locator("#stretches li")
      .evaluateAll((items) => items.map((item) => [...item.children].map((part) => part.textContent)));
  }

  /** What was shown since the page was opened: `headline`, `announcer`, `circuit-name`, `words`, or `states`. */
  heard(what) {
    return this.tab.evaluate((key) => globalThis.heard[key], what);
  }

  focused() {
    return this.tab.evaluate(() => document.activeElement.id);
  }

  pause(ms) {
    return this.tab.waitForTimeout(ms);
  }
}

/** Runs `visit` on a fresh page about the outbox, in a browser that knows nothing of another test. */
export async function visitOutbox(url, visit, { screen = SCREEN, ...how } = {}) {
  const context = await (await launch()).newContext(how);
  context.setDefaultTimeout(PATIENCE);
  const faults = [];
  try {
    const page = await OutboxTab.open(context, `${url}outbox/`, faults);
    await page.tab.setViewportSize(screen);
    await visit(page);
    assert.deepEqual(faults, [], "the page had errors");
  } finally {
    await context.close();
  }
}

/** The page about the outbox, in one tab. */
export class OutboxTab {
  static async open(context, url, faults) {
    const page = new OutboxTab();
    Object.assign(page, { context, url, faults, tab: await context.newPage() });
    page.tab.on("pageerror", (error) => faults.push(error.stack));
    page.tab.on("console", (message) => {
      // Attempts fail here.
      const attempt = /^Failed to load resource|NetworkError|Load failed/.test(message.text());
      if (["error", "warning"].includes(message.type()) && !attempt) faults.push(message.text());
    });
    await page.tab.goto(url);
    await page.starts();
    return page;
  }

  /** Waits until the page can be used. */
  async starts() {
    await this.tab.locator("#send:enabled").waitFor();
    await this.tab.evaluate(() => {
      globalThis.heard = [];
      const note = (records) => {
        for (const { addedNodes } of records) for (const { textContent } of addedNodes) heard.push(textContent);
      };
      new MutationObserver(note).observe(document.getElementById("announcer"), { childList: true });
    });
  }

  /** Another tab of the same browser. */
  another() {
    return OutboxTab.open(this.context, this.url, this.faults);
  }

  async reload() {
    await this.tab.reload();
    await this.starts();
  }

  /** What the server does from now on. */
  async server(fault) {
    await this.tab.getByRole("radio", { name: fault, exact: true }).check();
  }

  get offline() {
    return this.tab.getByLabel("Pretend to be offline");
  }

  async posts(...texts) {
    for (const text of texts) {
      await this.tab.evaluate((text) => {
        document.getElementById("text").value = text;
      }, text);
      await this.tab.locator("#send").click();
      await this.tab.locator("#pending li, #refused li, #taken li", { hasText: text }).first().waitFor();
    }
  }

  /** The line of a comment in the list "pending", "refused" or "taken". */
  line(list, text) {
    return this.tab.locator(`#${list} li`, { hasText: text });
  }

  button(name) {
    return this.tab.getByRole("button", { name, exact: true });
  }

  /** The texts of the comments in a list. */
  texts(list) {
    return this.tab.locator(`#${list} .text`).evaluateAll((all) => all.map(({ textContent }) => textContent));
  }

  /** What was announced, with plain spaces. */
  async heard() {
    const texts = await this.tab.evaluate(() => globalThis.heard);
    return texts.map((text) => text.replaceAll("\u00a0", " "));
  }

  focused() {
    return this.tab.evaluate(() => document.activeElement.id || document.activeElement.textContent);
  }
}

/** In the page: keeps what is shown, even for a moment. */
function record() {
  const find = (id) => document.getElementById(id);
  const plain = (text) => text.replaceAll("\u00a0", " ");
  const observe = (id, what, note) => new MutationObserver(note).observe(find(id), { [what]: true });
  const now = () => plain(`${find("headline").textContent} ${find("detail").textContent}`);
  const texts = { headline: [], announcer: [], "circuit-name": [] };
  const heard = { ...texts, words: [now()], states: [], now };

  for (const id of Object.keys(texts)) {
    observe(id, "childList", (records) => {
      for (const { addedNodes } of records)
        for (const { textContent } of addedNodes) heard[id].push(plain(textContent));
    });
  }
  for (const id of ["headline", "detail"]) observe(id, "childList", () => heard.words.push(now()));

  const enter = () => {
    const buttons = [...document.querySelectorAll("#actions button")].filter((button) => !button.hidden);
    heard.states.push({
      status: find("status").dataset.status,
      lit: [...document.querySelectorAll(".node.now")].map((node) => node.textContent),
      offered: buttons.map((button) =>
        button.ariaDisabled === "true" ? `(${button.textContent})` : button.textContent,
      ),
      width: document.documentElement.scrollWidth,
      buttonsAt: Math.round(
        find("actions").getBoundingClientRect().top - find("user-card").getBoundingClientRect().top,
      ),
    });
  };
  enter();
  observe("status", "attributes", enter);
  globalThis.heard = heard;
}

/** The same site below a folder, as on a host that serves many. */
export async function serveBelow(folder, origin) {
  const strays = [];
  const server = createServer(async (request, response) => {
    if (!request.url.startsWith(folder)) {
      strays.push(request.url);
      response.writeHead(404).end();
      return;
    }
    try {
      const answer = await fetch(new URL(request.url.slice(folder.length), origin));
      response.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") });
      response.end(Buffer.from(await answer.arrayBuffer()));
    } catch {
      response.destroy();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${folder}`,
    /** What was asked for outside of the folder. */
    strays,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
