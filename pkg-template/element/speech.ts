// Lines in a language.
import type { PluralForms, StatusMessages } from "../element.js";
import type { Key, Values } from "./line.ts";
import { BUILT_IN } from "./words.ts";

export type Messages = Readonly<Partial<StatusMessages>>;

const DEFAULT = "en";
/** How many of a unit make one of the next, and up to how many of it are told. */
const UNITS = [
  ["second", 1, 120],
  ["minute", 60, 120],
  ["hour", 60, 48],
  ["day", 24, Infinity],
] as const;

export class Speech {
  /** The language that is spoken, for the `lang` of the text. */
  readonly language_: string;
  readonly #locale: string;
  readonly #messages: StatusMessages;

  /**
   * `wanted` is a language tag. One that is not built in is spoken where there are messages of the page, which are in
   * it; else numbers would be in another language than the words around them.
   */
  constructor(wanted: string, messages: Messages) {
    const own = BUILT_IN[wanted.toLowerCase().split("-")[0] as string];
    const language = own || Object.keys(messages).length ? wanted : DEFAULT;
    this.#messages = { ...(own ?? (BUILT_IN[DEFAULT] as StatusMessages)), ...messages };
    this.#locale = supported(language);
    this.language_ = language;
  }

  /** The text of that name, filled in. */
  say_(key: Key, values: Values, left: number): string {
    const message = this.#messages[key];
    const text = typeof message === "string" ? message : this.#plural(message, Number(values.count ?? 0));
    return text.replace(/\{(\w+)\}/g, (hole, name: string) => {
      if (name === "time") return this.#span(left);
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined) return hole;
      return typeof value === "number" ? new Intl.NumberFormat(this.#locale).format(value) : value;
    });
  }

  #plural(forms: PluralForms, count: number): string {
    return forms[new Intl.PluralRules(this.#locale).select(count)] ?? forms.other;
  }

  #span(ms: number): string {
    // A countdown that is over is about to be something else.
    let amount = Math.max(1, Math.ceil(ms / 1000));
    for (const [unit, size, most] of UNITS) {
      amount /= size;
      const whole = Math.round(amount);
      if (whole < most) {
        return new Intl.NumberFormat(this.#locale, { style: "unit", unit, unitDisplay: "long" }).format(whole);
      }
    }
    return "";
  }
}

/** What pages write into `lang` may be no language tag. */
function supported(language: string): string {
  try {
    new Intl.NumberFormat(language);
    return language;
  } catch {
    return DEFAULT;
  }
}

/** The nearest `lang` around an element, across the borders of shadow trees; else the language of the browser. */
export function languageOf(element: Element): string {
  for (let at: Element | undefined = element; at; ) {
    const near: Element | null = at.closest("[lang]");
    if (near) return near.getAttribute("lang") || DEFAULT;
    at = (at.getRootNode() as Partial<ShadowRoot>).host;
  }
  return navigator.language || DEFAULT;
}
