// Elements in few words. Text is text: nothing that comes from outside is ever markup.

type Child = Node | string | false | undefined;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: { [name: string]: string } = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== false && child !== undefined));
  return made;
}

export function button(text: string, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}
