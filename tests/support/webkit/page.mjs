// WebKitGTK with the names that Playwright gives to things, as far as the tests use them, so that the same tests run in it.
//
// What WebDriver cannot do is not there, or is done in another way:
// - There is one profile, which the contexts share. The tests have a new origin each time.
// - What goes wrong in a page is noted from the end of its loading on, and the page's clock stops no earlier.
// - Offline is what the page is told: navigator.onLine and its event. Requests are sent all the same.

import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { build } from "esbuild";
import { drive } from "./in-page.mjs";
import { Keyboard, Locator, Mouse } from "./locator.mjs";
import { startSession } from "./session.mjs";

const PATIENCE = 30_000;
const POLL = 10;

/** Starts it. */
export async function launchWebKit() {
  const sessions = new Map();
  const sessionWith = (env) => {
    const key = JSON.stringify(env);
    if (!sessions.has(key)) sessions.set(key, startSession(env));
    return sessions.get(key);
  };
  const version = await (await sessionWith(surroundings({}))).version();
  const newContext = async (options = {}) => new Context(await sessionWith(surroundings(options)), options);
  return {
    version: () => version,
    newContext,
    newPage: async () => (await newContext()).newPage(),
    close: () => Promise.all([...sessions.values()].map(async (session) => (await session).end())),
  };
}

/** What the desktop tells WebKit of the user's preferences, as environment. */
function surroundings({ colorScheme, reducedMotion }) {
  return {
    LC_ALL: "en_US.UTF-8", // "C" would be no language for Intl
    ...(colorScheme === "dark" && { GTK_THEME: "Adwaita:dark" }),
    ...(reducedMotion === "reduce" && { XDG_CONFIG_HOME: fileURLToPath(new URL("still", import.meta.url)) }),
  };
}

/** A module as a script whose exports are in a global of its name; once per process. */
const bundled = {};
function bundle(name) {
  bundled[name] ??= build({
    entryPoints: [fileURLToPath(new URL(`${name}.mjs`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    globalName: name,
    define: { global: "globalThis" },
    external: ["util", "timers", "timers/promises"],
  }).then(({ outputFiles: [{ text }] }) => `${text}\nglobalThis.${name} = ${name};`);
  return bundled[name];
}

class Context {
  #session;
  #options;
  #pages = [];
  patience = PATIENCE;
  /** How the page's clock stands, if it is ours. */
  stopped;

  constructor(session, options = {}) {
    this.#session = session;
    this.#options = options;
    const each = (act) => Promise.all(this.#pages.map(act));
    this.clock = {
      install: async () => {},
      pauseAt: async (time) => {
        this.stopped = { at: +time };
      },
      setFixedTime: async (time) => {
        this.stopped = { at: +time, dateOnly: true };
      },
      runFor: (ms) => each((page) => page.run(`clock.runFor(${ms})`)),
    };
    this.setOffline = (offline) =>
      each((page) =>
        page.evaluate((offline) => {
          Object.defineProperty(navigator, "onLine", { configurable: true, get: () => !offline });
          dispatchEvent(new Event(offline ? "offline" : "online"));
        }, offline),
      );
  }

  async newPage() {
    const page = new Page(this, this.#session, await this.#session.open());
    this.#pages.push(page);
    if (this.#options.viewport) await page.setViewportSize(this.#options.viewport);
    return page;
  }

  setDefaultTimeout(ms) {
    this.patience = ms;
  }

  pages() {
    return this.#pages;
  }

  forget(page) {
    this.#pages = this.#pages.filter((other) => other !== page);
  }

  async close() {
    for (const page of this.#pages) await page.close();
  }
}

class Page extends EventEmitter {
  #context;
  #session;
  #handle;
  #prepared = [];
  keyboard = new Keyboard(this);
  mouse = new Mouse(this);

  constructor(context, session, handle) {
    super();
    this.#context = context;
    this.#session = session;
    this.#handle = handle;
  }

  get clock() {
    return this.#context.clock;
  }

  context() {
    return this.#context;
  }

  command(act) {
    return this.#session.in(this.#handle, act);
  }

  async goto(url) {
    await this.command((driver) => driver.get(url));
    await this.#prepare();
  }

  async reload() {
    await this.command((driver) => driver.navigate().refresh());
    await this.#prepare();
  }

  /** Runs it in each page that is loaded, after the page's own scripts have begun. */
  async addInitScript(act) {
    this.#prepared.push(act);
  }

  async #prepare() {
    await this.evaluate(() => {});
    // What it returns nobody asks for, and need be no JSON.
    for (const act of this.#prepared) await this.run(`void (${act})()`);
    const { stopped } = this.#context;
    if (!stopped) return;
    await this.load("clock");
    await this.run(`clock.stop(${JSON.stringify(stopped)})`);
  }

  async close() {
    this.#context.forget(this);
    await this.run("undefined").catch(() => {}); // what was noted last
    await this.#session.close(this.#handle);
  }

  /** The value of an expression, promises awaited; what it is begun by ends at once, so that other pages go on. */
  async run(expression) {
    const begun = `(${drive})(); return driven.begin(() => ${expression});`;
    let answer = await this.#ask(begun);
    for (let waited = 0; !answer.over; waited = POLL) {
      if (waited) await sleep(waited);
      answer = await this.#ask(`return driven.take(${answer.id})`);
    }
    if (answer.error) throw failed(answer.error);
    return decode(JSON.parse(answer.value));
  }

  async #ask(script) {
    const answer = JSON.parse(await this.command((driver) => driver.executeScript(script)));
    for (const { kind, type, text, ...error } of answer.events) {
      if (kind === "pageerror") this.emit(kind, failed(error));
      else this.emit(kind, { type: () => type, text: () => text, location: () => ({ url: "" }) });
    }
    return answer;
  }

  /** @param {Function | string} act  a text is an expression or statements */
  evaluate(act, input) {
    if (typeof act === "function") return this.run(`(${act})(${written(input)})`);
    return this.run(isExpression(act) ? `(${act}\n)` : `{ ${act}\n }`);
  }

  async addScriptTag({ path }) {
    const text = await readFile(path, "utf8");
    await this.command((driver) => driver.executeScript(text));
  }

  /** Makes a module of this folder a global of the page. */
  async load(name) {
    if (await this.run(`typeof ${name} === "object"`)) return;
    const text = await bundle(name);
    await this.command((driver) => driver.executeScript(text));
  }

  async until(condition, what, within = this.#context.patience) {
    for (const end = Date.now() + within; !(await condition()); await sleep(POLL)) {
      if (Date.now() > end) throw new Error(`waited ${within} ms in vain for ${what}`);
    }
  }

  waitForFunction(act, input) {
    return this.until(() => this.evaluate(`Promise.resolve((${act})(${written(input)})).then(Boolean)`), act);
  }

  waitForTimeout(ms) {
    return sleep(ms);
  }

  async setViewportSize({ width, height }) {
    await this.command(async (driver) => {
      const window = driver.manage().window();
      const inner = await driver.executeScript("return [outerWidth - innerWidth, outerHeight - innerHeight]");
      await window.setRect({ width: width + inner[0], height: height + inner[1] });
    });
  }

  locator(...args) {
    return new Locator(this, []).locator(...args);
  }

  getByRole(...args) {
    return new Locator(this, []).getByRole(...args);
  }

  getByText(...args) {
    return new Locator(this, []).getByText(...args);
  }

  getByLabel(...args) {
    return new Locator(this, []).getByLabel(...args);
  }
}

/** What a page threw. Its stack there is without the message, which is wanted where only a stack is shown. */
const failed = ({ message, stack }) => Object.assign(new Error(message), { stack: `${message}\n${stack}` });

const SPECIAL = { undefined, NaN: Number.NaN, Infinity: Infinity, "-Infinity": -Infinity };

/** What JSON has no word for is `{ $: "NaN" }` on its way. */
function decode(value) {
  if (value === null || typeof value !== "object") return value;
  if (Object.hasOwn(value, "$")) return SPECIAL[value.$];
  if (Array.isArray(value)) return value.map(decode);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, decode(part)]));
}

/** A value as text of a script: in JSON a part that is undefined would arrive as null. */
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written)}]`;
  if (Object(value) !== value) return typeof value === "string" ? JSON.stringify(value) : String(value);
  return `{${Object.entries(value).map(([key, part]) => `[${JSON.stringify(key)}]: ${written(part)}`)}}`;
}

function isExpression(text) {
  try {
    new vm.Script(`(${text}\n)`);
    return true;
  } catch {
    return false;
  }
}
