// The demo page in a tab of its own, as a visitor has it in front of him.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { launch } from "./browser.mjs";

const PATIENCE = 30_000;
const FORM = { times: "How often", retryAfter: "Retry-After" };
const OPTIONS = {
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
    await demo.page.locator(`#load:enabled`).waitFor();
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
    for (const [name, value] of Object.entries(choices)) {
      if (name in OPTIONS)
        await this.page
          .locator("#options-card:not([open]) summary")
          .click({ timeout: 1 })
          .catch(() => {});
      await this.page.getByLabel(FORM[name] ?? OPTIONS[name], { exact: true }).selectOption(String(value));
    }
  }

  /** Sets up the server and the client, then loads. */
  async load(choices = {}) {
    await this.choose(choices);
    await this.button("Load report").click();
  }

  /** Waits until the user's card has this text. */
  async sees(text) {
    const card = this.page.locator("#status");
    try {
      await card.filter({ hasText: text }).waitFor();
    } catch {
      assert.fail(`waited in vain for ${text}; the page says: ${await card.innerText()}`);
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
  async words() {
    const texts = await this.page.locator("#headline, #detail").allTextContents();
    return texts.map((text) => text.replaceAll("\u00a0", " "));
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

  /** Every text that was shown as `headline` or spoken as `announcer` since the page was opened. */
  heard(id) {
    return this.page.evaluate((key) => globalThis.heard[key], id);
  }

  focused() {
    return this.page.evaluate(() => document.activeElement.id);
  }

  pause(ms) {
    return this.page.waitForTimeout(ms);
  }
}

/** In the page: keeps what is written, even for a moment. */
function record() {
  const heard = { headline: [], announcer: [], lit: [] };
  for (const id of ["headline", "announcer"]) {
    new MutationObserver((records) => {
      for (const { addedNodes } of records) heard[id].push(...[...addedNodes].map((node) => node.textContent));
    }).observe(document.getElementById(id), { childList: true });
  }
  new MutationObserver(() => {
    const lit = [...document.querySelectorAll(".node.now")].map((node) => node.textContent);
    heard.lit.push([document.getElementById("status").dataset.status, lit]);
  }).observe(document.getElementById("status"), { attributeFilter: ["data-status"] });
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
