// What is in the panel: the log and the client, as elements. It is drawn anew as a whole.
import type { CircuitState, SteadFetch } from "../index.js";
import { button, element } from "./dom.ts";
import { type CallLog, isOver, type Row } from "./log.ts";

/** How much time the line shows at least. */
const SPAN = 10_000;
/** A page with more rows would be busy with them alone. */
const MOST_SHOWN = 50;

/** What a budget has left, by its key. The client's own text for a reload has it. */
function budgets(client: SteadFetch): [string, number][] {
  const { keys } = JSON.parse(client.snapshot()) as { keys: [string, unknown, unknown, unknown, number][] };
  return keys.filter(([, , , , milli]) => milli >= 0).map(([key, , , , milli]) => [key, milli / 1000]);
}

function track({ stretches }: Row, from: number, now: number): HTMLElement {
  const scale = 100 / (now - from);
  const bars = stretches
    .filter(({ to }) => to >= from)
    .map((stretch) => {
      const start = Math.max(stretch.from, from);
      const bar = element("span", { class: stretch.status, title: stretch.what });
      bar.style.left = `${(start - from) * scale}%`;
      bar.style.width = `${(Math.min(stretch.to, now) - start) * scale}%`;
      return bar;
    });
  return element(
    "div",
    { class: "track", role: "img", "aria-label": stretches.map(({ what }) => what).join(", ") },
    ...bars,
  );
}

function callRow(id: number, row: Row, from: number, now: number): HTMLElement {
  const { call, name, stretches } = row;
  const { state } = call;
  const waits = ["waiting", "offline", "circuit-open"].includes(state.status) && !isOver(state);
  // Of a call that nobody watches, `remaining` stands still.
  const left = "retryAt" in state && state.retryAt ? Math.ceil((state.retryAt - Date.now()) / 1000) : 0;
  const seconds = waits && left > 0 ? `, ${left} s left` : "";
  const actions = element(
    "div",
    { class: "actions" },
    waits && button("Try now", () => call.retryNow()),
    !isOver(state) && button("Cancel", () => call.cancel()),
    isOver(state) && state.status !== "success" && button("Retry", () => void call.retry().catch(() => {})),
  );
  return element(
    "tr",
    {},
    element("td", { class: "soft" }, `#${id}`),
    element("td", {}, name),
    element("td", {}, `${stretches.at(-1)?.what ?? state.status}${seconds}`),
    element("td", { class: "line" }, track(row, from, now)),
    element("td", {}, actions),
  );
}

function circuitRow(client: SteadFetch, circuit: CircuitState, held: Map<string, () => void>): HTMLElement {
  const { key, status, remaining, failureRate, calls, consecutiveFailures, reason } = circuit;
  const letGo = held.get(key);
  const hold = letGo
    ? button("Let go", () => {
        held.delete(key);
        letGo();
      })
    : button("Hold open", () => held.set(key, client.circuits.isolate(key)));
  const left = status === "open" ? `, ${Math.ceil(remaining / 1000)} s left` : "";
  return element(
    "tr",
    {},
    element("td", {}, key),
    element("td", {}, `${status}${reason && reason !== status ? ` (${reason})` : ""}${left}`),
    element(
      "td",
      {},
      `${Math.round(failureRate * 100)} % of ${calls} in the window failed, ${consecutiveFailures} in a row`,
    ),
    element(
      "td",
      {},
      element(
        "div",
        { class: "actions" },
        hold,
        button("Reset", () => client.circuits.reset(key)),
      ),
    ),
  );
}

function table(title: string, empty: string, rows: HTMLElement[], below?: HTMLElement | false): HTMLElement {
  const body = rows.length
    ? element("table", {}, element("tbody", {}, ...rows))
    : element("p", { class: "soft" }, empty);
  return element("section", { "aria-label": title }, element("h3", {}, title), body, below);
}

/** Everything below the bar. */
export function draw(client: SteadFetch, log: CallLog, held: Map<string, () => void>, now: number): HTMLElement[] {
  const all = [...log.rows].reverse();
  const rows = all.slice(0, MOST_SHOWN);
  const more = all.length - rows.length;
  const first = Math.min(...rows.map(([, { stretches }]) => stretches[0]?.from ?? now));
  const from = Math.max(Math.min(first, now - SPAN), now - 6 * SPAN);
  return [
    table(
      "Calls",
      "None yet.",
      rows.map(([id, row]) => callRow(id, row, from, now)),
      more > 0 && element("p", { class: "soft" }, `${more} older ones are not shown.`),
    ),
    table(
      "Circuits",
      "None yet.",
      client.circuits.getSnapshot().map((circuit) => circuitRow(client, circuit, held)),
    ),
    table(
      "Budgets",
      "All are full.",
      budgets(client).map(([key, tokens]) =>
        element("tr", {}, element("td", {}, key), element("td", {}, `${Math.round(tokens * 10) / 10} tokens`)),
      ),
    ),
  ];
}
