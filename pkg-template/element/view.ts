// The shadow tree, and a line put into it.
import type { Key, Line } from "./line.ts";
import { styleSheet } from "./sheet.ts";
import type { Speech } from "./speech.ts";

/** States that are over sooner are not worth hearing of; and what is said while a region is new is not heard. */
const BEFORE_SPEAKING = 100;
/** After that it is only what somebody comes across again who reads on. */
const SPOKEN_FOR = 5_000;

type Button = NonNullable<Line["again_"] | Line["cancel_"]>;
const CLICKS = { tryNow: "try-now", tryAgain: "try-again", cancel: "cancel", cancelAll: "cancel" } as const;

function part<Name extends keyof HTMLElementTagNameMap>(
  tag: Name,
  name: string,
  ...children: Node[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(tag);
  element.className = name;
  element.setAttribute("part", name);
  element.append(...children);
  return element;
}

function slot(name: string, ...children: Node[]): HTMLSlotElement {
  const element = document.createElement("slot");
  element.name = name;
  element.append(...children);
  return element;
}

/** Writing what stands there already would be a change to observers, and to some readers. */
function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function label(button: HTMLButtonElement, key: Button | undefined, say: (key: Key) => string): void {
  button.hidden = !key;
  if (!key) return;
  button.dataset.click = CLICKS[key];
  write(button, say(key));
}

export type Click = (typeof CLICKS)[Button];

export class View {
  readonly #root: ShadowRoot;
  readonly #icon = part("span", "icon");
  readonly #headline = part("p", "headline");
  readonly #detail = part("p", "detail");
  /** A child of that slot's name, which is the status, takes the place of the words. */
  readonly #words = slot("", this.#headline, this.#detail);
  readonly #main: HTMLElement;
  readonly #again = part("button", "again");
  readonly #cancel = part("button", "cancel");
  readonly #box: HTMLElement;
  readonly #live = part("p", "live");
  #announced = "";
  #speaking: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, clicked: (click: Click) => void) {
    this.#root = host.attachShadow({ mode: "open" });
    this.dress_(host.ownerDocument);
    this.#icon.ariaHidden = "true";
    this.#main = part("div", "main", slot("icon", this.#icon), part("div", "words", this.#words));
    // Where the focus goes that has no button left.
    this.#main.tabIndex = -1;
    const actions = part("div", "actions", this.#again, this.#cancel, slot("actions"));
    this.#box = part("div", "box", this.#main, actions);
    this.#box.hidden = true;
    this.#live.setAttribute("role", "status");
    for (const button of [this.#again, this.#cancel]) {
      button.type = "button";
      button.addEventListener("click", ({ detail }) => {
        // Half of a double click may hit what has taken the place of the button meant.
        if (button.ariaDisabled !== "true" && detail < 2) clicked(button.dataset.click as Click);
      });
    }
    // And so may a key that is held down.
    actions.addEventListener("keydown", (event) => {
      if (event.repeat && event.key === "Enter") event.preventDefault();
    });
    this.#root.append(this.#box, this.#live);
  }

  /** Another document takes the style sheet away. */
  dress_(page: Document): void {
    const sheet = styleSheet(page);
    this.#root.adoptedStyleSheets = sheet ? [sheet] : [];
  }

  show_(line: Line | undefined, speech: Speech): void {
    const focused = this.#root.activeElement;
    if (!line) {
      this.#box.hidden = true;
      this.#announce("", "");
      return;
    }
    const say = (key: Key): string => speech.say_(key, line.values_, line.left_);
    const headline = say(line.headline_);
    const detail = line.details_.map(say).join(" ");
    this.#box.lang = this.#live.lang = speech.language_;
    this.#words.name = line.status_;
    write(this.#headline, headline);
    write(this.#detail, detail);
    label(this.#again, line.again_, say);
    label(this.#cancel, line.cancel_, say);
    // Its place stays empty beside the other one: a second click there must not hit what has come.
    if (!line.cancel_) write(this.#cancel, say("cancel"));
    this.#again.ariaDisabled = String(!!line.rests_);
    this.#box.hidden = false;
    if (focused && (focused as HTMLElement).hidden) {
      (this.#again.hidden ? this.#main : this.#again).focus();
    }
    this.#announce(line.identity_, detail ? `${headline}. ${detail}` : headline);
  }

  /** Says it once, politely. */
  #announce(identity: string, text: string): void {
    if (identity === this.#announced) return;
    this.#announced = identity;
    clearTimeout(this.#speaking);
    this.#speaking = setTimeout(() => {
      write(this.#live, text);
      this.#speaking = setTimeout(() => write(this.#live, ""), SPOKEN_FOR);
    }, BEFORE_SPEAKING);
  }
}
