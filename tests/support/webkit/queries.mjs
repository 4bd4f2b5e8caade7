// How elements are found, in the page, through open shadow trees: by selector, role and name, text, or label. Bundled.

import { computeAccessibleName, getRole, isInaccessible } from "dom-accessibility-api";

/** The elements that a chain of steps leads to, in the order of the document. */
export function all(steps) {
  let found = [document];
  for (const step of steps) found = STEPS[step.by](found, step);
  return found;
}

const STEPS = {
  css: (roots, { selector }) => select(roots, (element) => element.matches(selector)),
  role: (roots, { role, name }) =>
    select(
      roots,
      (element) =>
        getRole(element) === role &&
        !isInaccessible(element) &&
        (name === undefined || matches(computeAccessibleName(element), name)),
    ),
  /** The innermost ones with such a text. */
  text: (roots, { text }) => {
    const has = (element) =>
      !/^(SCRIPT|STYLE|HEAD|HTML|TITLE)$/.test(element.tagName) && matches(textOf(element), text);
    return select(roots, (element) => has(element) && !children(element).some(has));
  },
  label: (roots, { text }) =>
    select(
      roots,
      (element) =>
        [...(element.labels ?? [])].some((label) => matches(textOf(label), text)) ||
        matches(element.getAttribute("aria-label") ?? "", text),
    ),
  hasText: (elements, { text }) => elements.filter((element) => matches(textOf(element), text)),
  and: (elements, { steps }) => {
    const others = new Set(all(steps));
    return elements.filter((element) => others.has(element));
  },
  nth: (elements, { index }) => elements.slice(index, index + 1),
};

/** The elements below the roots, those in shadow trees too. */
function select(roots, wanted) {
  const found = new Set();
  const look = (root) => {
    for (const element of children(root)) {
      if (wanted(element)) found.add(element);
      look(element);
    }
  };
  for (const root of roots) look(root);
  return [...found];
}

const children = (node) => [...(node.shadowRoot?.children ?? []), ...node.children];
const plain = (text) => text.replace(/\s+/g, " ").trim();

function textOf(element) {
  if (element.tagName === "INPUT" && /^(button|submit)$/.test(element.type)) return element.value;
  return (element.shadowRoot?.textContent ?? "") + element.textContent;
}

/** `wanted` is a regular expression's source and flags, or a text and whether it is all. */
function matches(text, { source, flags, part, whole }) {
  const found = plain(text);
  if (source !== undefined) return new RegExp(source, flags).test(found);
  return whole ? found === plain(part) : found.toLowerCase().includes(plain(part).toLowerCase());
}

export const isVisible = (element) =>
  element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;

/** The middle of it; null where a click there would not be taken, unless it is forced. */
export function middle(element, force) {
  if (!isVisible(element) || (!force && (element.disabled || element.ariaDisabled === "true"))) return null;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
  const box = element.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2].map(Math.floor);
  let hit = element.getRootNode().elementFromPoint(x, y);
  while (hit && hit !== element) hit = hit.parentNode ?? hit.host;
  return hit || force ? { x, y } : null;
}
