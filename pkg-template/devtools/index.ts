// Mounts the panel, and keeps it up to date while it is unfolded and can be seen.
import type * as Api from "../devtools.js";
import type { StateChange } from "../index.js";
import { button, element } from "./dom.ts";
import { CallLog } from "./log.ts";
import { pretendOffline } from "./network.ts";
import { draw } from "./panel.ts";
import { STYLE } from "./style.ts";

/** How often it is drawn while time passes, and while things happen. */
const INTERVAL = 250;
const LEAST = 100;

export const inspect: typeof Api.inspect = (client, { target, open = true } = {}) => {
  const log = new CallLog();
  const held = new Map<string, () => void>();
  const host = element("div");
  if (!target) host.setAttribute("floating", "");
  const root = host.attachShadow({ mode: "open" });
  const offline = element("input", { type: "checkbox" });
  offline.addEventListener("change", () => pretendOffline(log, offline.checked));
  const clear = button("Clear", () => {
    log.clear();
    update();
  });
  const content = element("div");
  const details = element(
    "details",
    {},
    element("summary", {}, "steadfetch"),
    element("div", { class: "bar" }, element("label", {}, offline, " Pretend to be offline"), clear),
    content,
  );
  details.open = open;
  root.append(details);
  (target ?? document.body).append(host);
  // The target may be in another document, which has style sheets of its own.
  const sheet = new (host.ownerDocument.defaultView ?? window).CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];

  let asked: ReturnType<typeof setTimeout> | undefined;
  let drawn = -Infinity;
  let pressed = false;
  let moves = false;
  const update = (): void => {
    clearTimeout(asked);
    asked = undefined;
    // A button that is replaced while it is pressed is never clicked.
    if (!details.open || document.hidden || pressed) return;
    const buttons = () => [...content.querySelectorAll("button")];
    const focused = buttons().indexOf(root.activeElement as HTMLButtonElement);
    content.replaceChildren(...draw(client, log, held, performance.now()));
    drawn = performance.now();
    buttons()[focused]?.focus();
    moves = log.moves || client.circuits.getSnapshot().some(({ status }) => status === "open");
  };
  const press = (): void => {
    pressed = true;
  };
  const release = (): void => {
    if (!pressed) return;
    // The click comes first.
    setTimeout(() => {
      pressed = false;
      update();
    });
  };
  const ask = (): void => {
    // A page with hundreds of calls must have time for something else.
    asked ??= setTimeout(update, Math.max(0, drawn + LEAST - performance.now()));
  };
  const hear = ({ detail }: CustomEvent<StateChange>): void => {
    log.hear(detail, performance.now());
    ask();
  };
  for (const call of client.calls()) log.meet(call, performance.now());
  client.addEventListener("statechange", hear);
  const off = client.circuits.subscribe(ask);
  const timer = setInterval(() => {
    if (moves) update();
  }, INTERVAL);
  details.addEventListener("toggle", update);
  content.addEventListener("pointerdown", press);
  for (const type of ["pointerup", "pointercancel"]) addEventListener(type, release);
  document.addEventListener("visibilitychange", update);
  client.addEventListener("disposed", ask);
  update();

  return () => {
    clearInterval(timer);
    clearTimeout(asked);
    document.removeEventListener("visibilitychange", update);
    client.removeEventListener("disposed", ask);
    for (const type of ["pointerup", "pointercancel"]) removeEventListener(type, release);
    off();
    client.removeEventListener("statechange", hear);
    for (const letGo of held.values()) letGo();
    held.clear();
    pretendOffline(log, false);
    host.remove();
  };
};
