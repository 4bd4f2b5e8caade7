// Plots as SVG, legible on light and dark ground. What is ours stands out by its colour; all else is told by text beside
// it, for not everybody tells colours apart.
import { digits } from "./figures.mjs";

const WIDTH = 760;
const HEAD = 52;
const ROW = 24;
const BAR = 14;
const FOOT = 46;

const STYLE = `
svg { font: 13px system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; --text: #1f2328; --faint: #59636e;
  --grid: #d1d9e0; --own: #0969da; --other: #8c959f; --a: #bc4c00; --b: #1a7f37; --c: #8250df; --d: #9a6700; --e: #59636e }
@media (prefers-color-scheme: dark) { svg { --text: #f0f6fc; --faint: #9198a1; --grid: #3d444d; --own: #4493f8;
  --other: #6e7681; --a: #f0883e; --b: #3fb950; --c: #ab7df8; --d: #d29922; --e: #9198a1 } }
text { fill: var(--text) } .faint { fill: var(--faint) } .head { font-weight: 600; font-size: 15px }
.own { font-weight: 600 } .grid { stroke: var(--grid) } .mark { stroke: var(--text); stroke-dasharray: 4 3 }
.whisker { stroke: var(--text); stroke-opacity: .6 } polyline { fill: none; stroke-width: 2; stroke-linejoin: round }`;
const COLOURS = ["a", "b", "c", "d", "e"];
const DASHES = ["", "6 3", "2 3", "9 3 2 3", "12 4"];

const escaped = (text) => String(text).replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const px = (value) => Math.round(value * 10) / 10;
const words = (x, y, text, attributes = "") => `<text x="${px(x)}" y="${px(y)}"${attributes}>${escaped(text)}</text>`;
const stroke = (x1, y1, x2, y2, kind) =>
  `<line x1="${px(x1)}" y1="${px(y1)}" x2="${px(x2)}" y2="${px(y2)}" class="${kind}"/>`;

function frame({ title, desc }, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${px(height)}" width="${WIDTH}" height="${px(height)}" role="img">
<title>${escaped(title)}</title>
<desc>${escaped(desc)}</desc>
<style>${STYLE}</style>
${words(0, 18, title, ' class="head"')}
${words(0, 37, desc, ' class="faint"')}
${parts.join("\n")}
</svg>
`;
}

/** Where a value comes to lie between two pixels, and the values worth a line. */
function scale({ log }, values, from, to) {
  const high = Math.max(...values);
  if (log) {
    const [bottom, top] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(high))];
    const ends = top > bottom ? [bottom, top] : [bottom, bottom + 1];
    const place = (value) => from + ((Math.log10(value) - ends[0]) / (ends[1] - ends[0])) * (to - from);
    const ticks = Array.from({ length: ends[1] - ends[0] + 1 }, (_, i) => 10 ** (ends[0] + i));
    return { place: (value) => place(Math.max(value, ticks[0])), ticks };
  }
  const step = niceStep(high / 5);
  const top = Math.ceil(high / step) * step;
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step);
  return { place: (value) => from + (Math.max(value, 0) / top) * (to - from), ticks };
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

const tick = (value) => {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  return value >= 10_000 ? `${value / 1_000}k` : String(Number(value.toPrecision(3)));
};

/**
 * Horizontal bars in groups.
 *
 * @param {object} plot
 * @param {string} plot.title
 * @param {string} plot.desc  one line
 * @param {string} plot.unit
 * @param {boolean} [plot.log]  then a bar's end counts, not its length
 * @param {{ value: number, label: string }} [plot.mark]  a line across all
 * @param {{ label?: string, rows: { label: string, value: number, low?: number, high?: number, own?: boolean }[] }[]} plot.groups
 */
export function bars({ log = false, unit, mark, groups, ...texts }) {
  const left = 170;
  const right = WIDTH - 70;
  const all = groups.flatMap(({ rows }) => rows);
  const values = all.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => value > 0);
  const { place, ticks } = scale({ log }, mark ? [...values, mark.value] : values, left, right);
  const top = HEAD + (mark ? 18 : 6);
  const parts = [];
  let y = top;
  for (const { label, rows } of groups) {
    if (label) parts.push(words(0, (y += 22) - 5, label, ' class="own"'));
    for (const { label, value, low, high, own } of rows) {
      const kind = own ? ' class="own"' : "";
      const [middle, end] = [y + ROW / 2, place(value)];
      parts.push(words(left - 10, middle + 4, label, `${kind} text-anchor="end"`));
      parts.push(
        `<rect x="${left}" y="${px(middle - BAR / 2)}" width="${px(Math.max(end - left, 1))}" height="${BAR}" rx="2" fill="var(--${own ? "own" : "other"})"/>`,
      );
      if (low !== undefined) parts.push(stroke(place(low), middle, place(high), middle, "whisker"));
      parts.push(words(Math.max(end, place(high ?? 0)) + 6, middle + 4, digits(value), kind));
      y += ROW;
    }
  }
  const grid = ticks.flatMap((value) => [
    stroke(place(value), top, place(value), y + 4, "grid"),
    words(place(value), y + 20, tick(value), ' class="faint" text-anchor="middle"'),
  ]);
  const line = mark && [
    stroke(place(mark.value), top, place(mark.value), y + 4, "mark"),
    words(place(mark.value), top - 5, mark.label, ' text-anchor="middle"'),
  ];
  const axis = words(right, y + 38, log ? `${unit}, logarithmic` : unit, ' class="faint" text-anchor="end"');
  return frame(texts, y + FOOT, [...grid, ...parts, ...(line ?? []), axis]);
}

/**
 * Lines over two axes, each with its name at its end.
 *
 * @param {object} plot
 * @param {string} plot.title
 * @param {string} plot.desc  one line
 * @param {{ label: string, log?: boolean }} plot.x
 * @param {{ label: string, log?: boolean }} plot.y
 * @param {{ label: string, points: [number, number][], own?: boolean }[]} plot.series
 */
export function lines({ x, y, series, ...texts }) {
  const [left, right, top, bottom] = [64, WIDTH - 160, HEAD + 24, 380];
  const points = series.flatMap(({ points }) => points);
  const across = scale(
    x,
    points.map(([value]) => value),
    left,
    right,
  );
  const up = scale(
    y,
    points.map(([, value]) => value),
    bottom,
    top,
  );
  const parts = [
    words(0, top - 12, y.log ? `${y.label}, logarithmic` : y.label, ' class="faint"'),
    words(right, bottom + 38, x.log ? `${x.label}, logarithmic` : x.label, ' class="faint" text-anchor="end"'),
  ];
  for (const value of across.ticks) {
    parts.push(stroke(across.place(value), top, across.place(value), bottom, "grid"));
    parts.push(words(across.place(value), bottom + 18, tick(value), ' class="faint" text-anchor="middle"'));
  }
  for (const value of up.ticks) {
    parts.push(stroke(left, up.place(value), right, up.place(value), "grid"));
    parts.push(words(left - 8, up.place(value) + 4, tick(value), ' class="faint" text-anchor="end"'));
  }
  const names = [];
  let others = 0;
  for (const { label, points, own } of series) {
    const which = own ? -1 : others++ % COLOURS.length;
    const colour = own ? "var(--own)" : `var(--${COLOURS[which]})`;
    const drawn = points.map(([a, b]) => [px(across.place(a)), px(up.place(b))]);
    const dash = own ? "" : DASHES[which];
    parts.push(`<polyline points="${drawn.join(" ")}" stroke="${colour}" stroke-dasharray="${dash}"/>`);
    for (const [a, b] of drawn) parts.push(`<circle cx="${a}" cy="${b}" r="3" fill="${colour}"/>`);
    const [endX, endY] = drawn.at(-1);
    names.push({ label, own, colour, x: endX, y: endY });
  }
  return frame(texts, bottom + FOOT, [...parts, ...beside(names, right + 10)]);
}

/** The names one below the other, as near as can be to the ends of their lines. */
function beside(names, x) {
  const parts = [];
  let free = Number.NEGATIVE_INFINITY;
  for (const name of names.toSorted((a, b) => a.y - b.y)) {
    const y = Math.max(name.y + 4, free);
    free = y + 17;
    const kind = name.own ? ' class="own"' : "";
    parts.push(words(x + 8, y, name.label, `${kind} style="fill: ${name.colour}"`));
    parts.push(
      `<line x1="${px(name.x + 4)}" y1="${px(name.y)}" x2="${x + 4}" y2="${px(y - 4)}" style="stroke: ${name.colour}; stroke-opacity: .5"/>`,
    );
  }
  return parts;
}
