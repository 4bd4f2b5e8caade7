// Elements of a page of WebKitGTK, looked for anew with each use, with the names that Playwright gives to it.

import { Key, Origin } from "selenium-webdriver";

const wanted = (text, { exact = false } = {}) =>
  text instanceof RegExp ? { source: text.source, flags: text.flags } : { part: String(text), whole: exact };

/** Pixels; more than GTK takes for the same place. */
const NUDGE = 4;

export class Locator {
  #page;
  #steps;

  constructor(page, steps) {
    this.#page = page;
    this.#steps = steps;
  }

  #then(step) {
    return new Locator(this.#page, [...this.#steps, step]);
  }

  locator(selector, { hasText } = {}) {
    const found = this.#then({ by: "css", selector });
    return hasText === undefined ? found : found.filter({ hasText });
  }

  getByRole(role, { name, exact } = {}) {
    return this.#then({ by: "role", role, name: name === undefined ? undefined : wanted(name, { exact }) });
  }

  getByText(text, how) {
    return this.#then({ by: "text", text: wanted(text, how) });
  }

  getByLabel(text, how) {
    return this.#then({ by: "label", text: wanted(text, how) });
  }

  filter({ hasText }) {
    return this.#then({ by: "hasText", text: wanted(hasText) });
  }

  and(other) {
    return this.#then({ by: "and", steps: other.#steps });
  }

  nth(index) {
    return this.#then({ by: "nth", index });
  }

  first() {
    return this.nth(0);
  }

  count() {
    return this.evaluateAll((elements) => elements.length);
  }

  async evaluateAll(act, input) {
    await this.#page.load("queries");
    return this.#page.run(`(${act})(queries.all(${JSON.stringify(this.#steps)}), ${JSON.stringify(input)})`);
  }

  isVisible() {
    return this.evaluateAll((elements) => elements.some((element) => queries.isVisible(element)));
  }

  async waitFor({ state = "visible" } = {}) {
    const holds = {
      visible: (elements) => elements.some((element) => queries.isVisible(element)),
      detached: (elements) => elements.length === 0,
    }[state];
    await this.#page.until(() => this.evaluateAll(holds), `${state}: ${JSON.stringify(this.#steps)}`);
  }

  /** What `act` gives of the first one, once there is one. */
  async #ofFirst(act, input) {
    await this.#page.until(() => this.count(), JSON.stringify(this.#steps));
    return this.evaluateAll(`([element]) => (${act})(element, ${JSON.stringify(input)})`);
  }

  textContent() {
    return this.#ofFirst((element) => element.textContent);
  }

  getAttribute(name) {
    return this.#ofFirst((element, name) => element.getAttribute(name), name);
  }

  isChecked() {
    return this.#ofFirst((element) => element.checked);
  }

  focus() {
    return this.#ofFirst((element) => element.focus());
  }

  async check() {
    if (!(await this.isChecked())) await this.click();
  }

  async uncheck() {
    if (await this.isChecked()) await this.click();
  }

  selectOption(value) {
    return this.#ofFirst((element, value) => {
      element.value = value;
      for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
    }, value);
  }

  /** The pointer goes to the middle of it, once that stays where it is and a click would be taken. */
  async #point(act, { force = false } = {}) {
    const look = ([element], force) => element && queries.middle(element, force);
    let seen = {};
    await this.#page.until(
      async () => {
        const before = seen;
        seen = (await this.evaluateAll(look, force)) ?? {};
        return seen.x !== undefined && seen.x === before.x && seen.y === before.y;
      },
      `a click: ${JSON.stringify(this.#steps)}`,
    );
    // Two clicks at one place are a double click, however slow the tests are.
    this.#page.nudge = -(this.#page.nudge ?? NUDGE);
    const to = { origin: Origin.VIEWPORT, x: seen.x + this.#page.nudge, y: seen.y, duration: 0 };
    await this.#page.command((driver) => act(driver.actions({ async: true }).move(to)).perform());
  }

  click(how) {
    return this.#point((actions) => actions.press().release(), how);
  }

  dblclick(how) {
    return this.#point((actions) => actions.press().release().press().release(), how);
  }

  hover() {
    return this.#point((actions) => actions, { force: true });
  }
}

const KEYS = { Enter: Key.ENTER, Tab: Key.TAB, Space: " ", Shift: Key.SHIFT, ArrowRight: Key.ARROW_RIGHT };

/** Of a page. */
export class Keyboard {
  #page;

  constructor(page) {
    this.#page = page;
  }

  #act(keys, ...kinds) {
    return this.#page.command((driver) => {
      const actions = driver.actions({ async: true });
      const all = keys.split("+").map((key) => KEYS[key] ?? key);
      for (const kind of kinds) for (const key of kind === "keyUp" ? [...all].reverse() : all) actions[kind](key);
      return actions.perform();
    });
  }

  press(keys) {
    return this.#act(keys, "keyDown", "keyUp");
  }

  down(key) {
    return this.#act(key, "keyDown");
  }

  up(key) {
    return this.#act(key, "keyUp");
  }
}

export class Mouse {
  #page;

  constructor(page) {
    this.#page = page;
  }

  down() {
    return this.#page.command((driver) => driver.actions({ async: true }).press().perform());
  }

  up() {
    return this.#page.command((driver) => driver.actions({ async: true }).release().perform());
  }
}
