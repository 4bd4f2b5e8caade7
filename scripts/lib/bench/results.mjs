// benches/results.json, and what is written from it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../run.mjs";

const folder = path.join(root, "benches");
const RESULTS = path.join(folder, "results.json");
/** The order in which they are told; others come after these. */
const ORDER = ["size", "overhead", "start", "many", "leak", "core"];

const HEAD = `# Results

What \`npm run bench\` measured, the package and its peers side by side; written from \`results.json\`, which has the single
rounds, too. Times are of one machine and one moment: compare the ratios.
`;

/** @returns {Record<string, { date: string, commit: string, result: object }>} */
export function read() {
  return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : {};
}

/** Puts a part's result in the place of its last one. */
export function keep(name, measured) {
  const all = { ...read(), [name]: measured };
  const rank = (part) => (ORDER.includes(part) ? ORDER.indexOf(part) : ORDER.length);
  const sorted = Object.entries(all).sort(([a], [b]) => rank(a) - rank(b));
  writeFileSync(RESULTS, `${json(Object.fromEntries(sorted))}\n`);
}

/** Writes the text and the plots. */
export async function write() {
  const sections = [];
  for (const [name, measured] of Object.entries(read())) {
    const { title, tell, plots, pages } = await import(path.join(folder, `${name}.mjs`));
    const images = Object.entries(plots?.(measured.result) ?? {});
    const others = Object.entries(pages?.(measured.result) ?? {});
    for (const [file, text] of [...images, ...others]) writeFileSync(path.join(folder, file), text);
    sections.push([`## ${title}`, tell(measured.result).trim(), ...images.map(shown), about(measured)].join("\n\n"));
  }
  writeFileSync(path.join(folder, "results.md"), `${[HEAD, ...sections].join("\n").trim()}\n`);
}

const shown = ([file, svg]) => `![${svg.match(/<title>(.*?)<\/title>/)?.[1] ?? ""}](${file})`;

function about({ date, seconds, options, package: version, commit, cpu, system, node, engines, rustc }) {
  const given = Object.entries(options).map(([name, value]) => `${name} ${value}`);
  const where = [
    `steadfetch ${version} (${commit})`,
    ...Object.entries(engines).map((engine) => engine.join(" ")),
    node && `Node ${node}`,
    `rustc ${rustc}`,
    cpu,
    system,
    ...given,
  ];
  return `<sub>${date.slice(0, 16).replace("T", " ")} UTC, ${seconds} s: ${where.filter(Boolean).join(", ")}</sub>\n`;
}

/** Indented, but with a list of numbers on one line. */
function json(value) {
  return JSON.stringify(value, null, 1).replace(/\[[\s\d.,eE+-]+\]/g, (list) => list.replace(/\s+/g, ""));
}
