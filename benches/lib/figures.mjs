// Medians and how they are told.

/** @param {number[]} values */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, median, high] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share));
  return { median, low, high, values };
}

function quantile(sorted, share) {
  const at = (sorted.length - 1) * share;
  const below = Math.floor(at);
  return sorted[below] + (sorted[Math.ceil(at)] - sorted[below]) * (at - below);
}

/** A number with so many digits that count, and commas between thousands. */
export function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "";
  const places = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toLocaleString("en-GB", { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** How many times `value` is `base`. */
export const ratio = (value, base) => (base > 0 && Number.isFinite(value) ? `${digits(value / base, 2)}×` : "");

/**
 * A table of markdown; the first column is text, the others are numbers.
 *
 * @param {string[]} heads
 * @param {(string | number)[][]} rows
 */
export function table(heads, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  return line(heads) + line(heads.map((_, i) => (i ? "--:" : "---"))) + rows.map(line).join("");
}
