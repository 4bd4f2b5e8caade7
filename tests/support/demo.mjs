// The demo page in a tab of its own, as a visitor has it in front of him.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { launch } from "./browser.mjs";

const PATIENCE = 30_000;
const SERVER = { times: "How often", retryAfter: "Retry-After" };
const CLIENT = {
  limit: "Retries",
  delay: "First delay",
  jitter: "Jitter",
  timeout: "Time limit",
  onCircuitOpen: "While the circuit is open",
};

/**
 * Runs `visit` on a fresh page, and fails if the page had an error that nobody saw.
 *
 * @param {string} url
 * @param {(demo: Demo) => Promise<void>} visit
 * @param {{ server?: "worker" | "stand-in", before?: (demo: Demo) => Promise<unknown> } & object} [options]
 *   which server it waits for, what comes before the page, and options of the browser context
 */
export async function visitDemo(url, visit, { server = "worker", before, ...options } = {}) {
  const context = await (await launch()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  try {
    context.setDefaultTimeout(PATIENCE);
    const demo = new Demo(context, await context.newPage());
    await before?.(demo);
    await demo.page.goto(url);
    await demo.page.locator("#load:enabled").waitFor();
    await demo.page.locator(`#server-note[data-server="${server}"]`).waitFor();
    await demo.page.evaluate(record);
    await visit(demo);
    assert.deepEqual(demo.faults, [], "the page had errors");
  } finally {
    await context.close();
  }
}

export class Demo {
  /** The addresses asked for, the page itself among them. */
  asked = [];
  /** Errors and warnings of the page; an answer that is no 200 is no fault here. */
  faults = [];

  constructor(context, page) {
    this.context = context;
    this.page = page;
    page.on("request", (request) => this.asked.push(request.url()));
    page.on("pageerror", (error) => this.faults.push(error.stack));
    page.on("console", (message) => {
      const answer = /^Failed to load resource/.test(message.text()) && message.location().url.includes("/api/report");
      if (["error", "warning"].includes(message.type()) && !answer) this.faults.push(message.text());
    });
  }

  /** How many requests for the report have left the page. */
  get sent() {
    return this.asked.filter((url) => url.includes("/api/report")).length;
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  /** Sets up the server and the client. */
  async choose({ fault, ...choices }) {
    if (fault) await this.page.getByRole("radio", { name: fault, exact: true }).check();
    const closed = this.page.locator("#options-card:not([open]) summary");
    if (Object.keys(choices).some((name) => name in CLIENT) && (await closed.count())) await closed.click();
    for (const [name, value] of Object.entries(choices)) {
      const list = this.page.getByRole("combobox", { name: SERVER[name] ?? CLIENT[name], exact: true });
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
      await this.page.waitForFunction((source) => globalThis.heard.words.some((said) => said.match(source)), pattern);
    } catch {
      assert.fail(`waited in vain for "${text}"; the page says: ${await this.words()}`);
    }
  }

  /** Waits for a state. */
  async reaches(status) {
    try {
      await this.page.locator(`#status[data-status="${status}"]`).waitFor();
    } catch {
      const now = await this.page.locator("#status").getAttribute("data-status");
      assert.fail(`waited in vain for ${status}; the page is ${now}`);
    }
  }

  /** Headline and detail, with plain spaces. */
  words() {
    return this.page.evaluate(() => globalThis.heard.now());
  }

  text(id) {
    return this.page.locator(`#${id}`).textContent();
  }

  /** The names of the buttons on offer, with those that rest in brackets. */
  actions() {
    return this.page
      .locator("#actions button:visible")
      .evaluateAll((buttons) =>
        buttons.map((button) => (button.ariaDisabled === "true" ? `(${button.textContent})` : button.textContent)),
      );
  }

  /** The lines of the time line: name, outcome and time of each stretch. */
  timeLine() {
    return this.page
      .locator("#stretches li")
      .evaluateAll((items) => items.map((item) => [...item.children].map((part) => part.textContent)));
  }

  /** All that was shown since the page was opened: `headline`, `announcer`, `words` or `lit`. */
  heard(what) {
    return this.page.evaluate((key) => globalThis.heard[key], what);
  }

  focused() {
    return this.page.evaluate(() => document.activeElement.id);
  }

  pause(ms) {
    return this.page.waitForTimeout(ms);
  }
}

/** In the page: keeps what is shown, even for a moment. */
function record() {
  const find = (id) => document.getElementById(id);
  const plain = (text) => text.replaceAll("\u00a0", " ");
  const observe = (id, what, note) => new MutationObserver(note).observe(find(id), { [what]: true });
  const now = () => plain(`${find("headline").textContent} ${find("detail").textContent}`);
  const heard = { headline: [], announcer: [], words: [now()], lit: [], now };
  for (const id of ["headline", "announcer"]) {
    observe(id, "childList", (records) => {
      for (const { addedNodes } of records)
        for (const { textContent } of addedNodes) heard[id].push(plain(textContent));
    });
  }
  for (const id of ["headline", "detail"]) observe(id, "childList", () => heard.words.push(now()));
  observe("status", "attributes", () => {
    const lit = [...document.querySelectorAll(".node.now")].map((node) => node.textContent);
    heard.lit.push([find("status").dataset.status, lit]);
  });
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
