// Two small helpers for the page's elements.

/** `{ name: id }` becomes `{ name: element }`. */
export const find = (ids) =>
  Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, document.getElementById(id)]));

/** Writes text only where it differs, so that nothing is laid out, or read out, again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
