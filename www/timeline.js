// The time line: attempts and waits of one load, as bars and as a list.
import { find, setText } from "./dom.js";

const { track, axis, list } = find({ track: "track", axis: "axis", list: "stretches" });

const OUTCOMES = {
  status: ({ status }) => `answered ${status}`,
  timeout: () => "no answer",
  network: () => "connection broke",
};
const SHORTEST_SPAN = 10_000;
const PENDING = {
  loading: "attempt",
  waiting: "wait",
  offline: "offline",
  "circuit-open": "circuit",
};
const NAMES = { wait: "Wait", offline: "Offline", circuit: "Circuit open" };

/** The stretches so far, with what a state adds. A mere tick of the same state adds nothing. */
export function record(stretches, state) {
  const open = stretches.at(-1)?.end === null ? stretches.at(-1) : null;
  const kind = state.settled ? undefined : PENDING[state.status];
  if (open && open.kind === kind && open.start === state.since) return stretches;

  const ended = open ? [...stretches.slice(0, -1), { ...open, end: state.since, ...verdict(open, state) }] : stretches;
  if (!kind) return ended;
  const { run, attempt, since } = state;
  const again = run > (ended.at(-1)?.run ?? run);
  return [...ended, { kind, run, again, attempt, start: since, end: null, outcome: "running", text: "" }];
}

function verdict({ kind }, next) {
  if (next.status === "cancelled") return { outcome: "cancelled", text: "cancelled" };
  if (kind !== "attempt") return { outcome: "over" };
  if (next.status === "success" || (next.status === "failed" && next.response))
    return { outcome: next.status === "success" ? "success" : "final", text: OUTCOMES.status(next.response) };
  const failure = next.failures.at(-1) ?? { kind: "network" };
  return { outcome: "failed", text: OUTCOMES[failure.kind](failure) };
}

export function drawTimeline(stretches, now) {
  const start = stretches[0]?.start ?? now;
  const span = Math.max(SHORTEST_SPAN, (stretches.at(-1)?.end ?? now) - start);
  fill(track, stretches, (bar, { kind, outcome, start: from, end }) => {
    bar.className = `bar ${kind} ${outcome}`;
    bar.style.left = `${((from - start) / span) * 100}%`;
    bar.style.width = `${(((end ?? now) - from) / span) * 100}%`;
  });
  fill(axis, ticks(span), (tick, seconds) => {
    tick.textContent = `${seconds} s`;
    tick.style.left = `${((seconds * 1000) / span) * 100}%`;
  });
  fill(list, stretches, (item, stretch) => describe(item, stretch, now));
}

function describe(item, { kind, again, attempt, start, end, outcome, text }, now) {
  item.className = `${kind} ${outcome}${again ? " again" : ""}`;
  const name = kind === "attempt" ? `Attempt ${attempt}` : NAMES[kind];
  const seconds = (((end ?? now) - start) / 1000).toFixed(1);
  const parts = [name, text, `${seconds} s`];
  if (item.childElementCount === 0) item.append(...parts.map(() => document.createElement("span")));
  for (const [i, part] of parts.entries()) setText(item.children[i], part);
}

function ticks(span) {
  const step = [2, 5, 10, 20, 30, 60, 120, 300].find((s) => span / 1000 / s <= 6) ?? 600;
  return Array.from({ length: Math.floor(span / 1000 / step) + 1 }, (_, i) => i * step);
}

// One child for each item, made and removed only as needed.
function fill(parent, items, draw) {
  while (parent.childElementCount > items.length) parent.lastElementChild.remove();
  while (parent.childElementCount < items.length) parent.append(document.createElement(parent.dataset.item));
  for (const [i, item] of items.entries()) draw(parent.children[i], item);
}
