// A list of comments, one line each. A line stays the same element while its comment is there, so a button keeps the focus.
import { setText } from "../dom.js";

/**
 * @param {HTMLElement} list
 * @param {object} how
 * @param {{ text: string, act: (entry: object) => unknown }[]} [how.buttons]  of each line
 * @param {HTMLElement} [how.rest]  has the focus after the last line went with it
 */
export function createLetters(list, { buttons = [], rest }) {
  /** By their ids. */
  let lines = new Map();

  /** `describe` gives what a line shows: `{ text, what, note, status, rests }`. */
  return function draw(entries, describe) {
    const focused = list.contains(document.activeElement) ? document.activeElement : null;
    const place = focused && [...list.children].indexOf(focused.closest("li"));
    const before = lines;
    lines = new Map(entries.map((entry) => [entry.id, before.get(entry.id) ?? makeLine(entry.id)]));
    for (const [id, { item }] of before) if (!lines.has(id)) item.remove();
    for (const [i, entry] of entries.entries()) {
      const line = lines.get(entry.id);
      if (list.children[i] !== line.item) list.insertBefore(line.item, list.children[i] ?? null);
      fill(line, entry, describe(entry));
    }
    if (focused && !focused.isConnected) refocus(place, focused.textContent);
  };

  function makeLine(id) {
    const line = { item: document.createElement("li"), actions: [] };
    const text = Object.assign(document.createElement("p"), { className: "text", id: `${list.id}-${id}` });
    const what = Object.assign(document.createElement("p"), { className: "what" });
    const note = Object.assign(document.createElement("p"), { className: "note" });
    const row = Object.assign(document.createElement("p"), { className: "buttons" });
    for (const { text: name, act } of buttons) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      button.setAttribute("aria-describedby", text.id);
      button.addEventListener("click", () => button.ariaDisabled !== "true" && act(line.entry));
      row.append(button);
    }
    line.item.append(text, what, note, ...(buttons.length ? [row] : []));
    return Object.assign(line, { text, what, note, row });
  }

  function fill(line, entry, { text, what, note, status = "", rests = false }) {
    line.entry = entry;
    line.item.dataset.status = status;
    setText(line.text, text);
    setText(line.what, what);
    setText(line.note, note);
    // Only the first one has a time to rest.
    line.row.firstElementChild?.setAttribute("aria-disabled", String(rests));
  }

  /** To the button of the same name in the line that took the place. */
  function refocus(place, name) {
    const next = list.children[place] ?? list.lastElementChild;
    const button = next && [...next.querySelectorAll("button")].find(({ textContent }) => textContent === name);
    (button ?? rest).focus();
  }
}
