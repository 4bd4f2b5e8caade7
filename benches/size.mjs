// How much a page loads of the package and of each peer: what it takes to use what peers.mjs uses, minified by esbuild.
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../scripts/lib/run.mjs";
import { measure } from "../scripts/lib/sizes.mjs";
import { bundle, opossum } from "./lib/bundle.mjs";
import { digits, ratio, table } from "./lib/figures.mjs";
import { bars } from "./lib/plot.mjs";

export const title = "Size";

/** What fits into the first flight of a connection, with what goes before it. */
const GOAL = 14_600;
const PEERS = {
  loop: 'export { loop } from "./lib/loop.mjs"',
  "fetch-retry": 'export { default } from "fetch-retry"',
  "p-retry": 'export { default } from "p-retry"',
  cockatiel:
    'export { circuitBreaker, ConsecutiveBreaker, ExponentialBackoff, handleAll, retry, wrap } from "cockatiel"',
  ofetch: 'export { createFetch } from "ofetch"',
  ky: 'export { default } from "ky"',
  "query-core": 'export { QueryClient } from "@tanstack/query-core"',
};
const OURS = ["index.js", "wasm", "js without wasm", "fallback.js"];
const WORDS = {
  wasm: "its WebAssembly",
  "js without wasm": "its JavaScript",
  "fallback.js": "where WebAssembly is refused",
};

export async function run() {
  const built = JSON.parse(readFileSync(path.join(root, "target", "sizes.json"), "utf8"));
  const peers = {};
  for (const [name, code] of Object.entries(PEERS))
    peers[name] = measure({ name: Buffer.from(await bundle(code)) }).name;
  peers.opossum = measure({ name: readFileSync(opossum()) }).name;
  return {
    goal: GOAL,
    ours: Object.fromEntries(OURS.map((name) => [name, built[name]])),
    peers,
    functions: breakdown(),
  };
}

const LIBRARY = ["core", "alloc", "std"];

/** Who answers for a module. */
function ownerOf(module) {
  const crate = module.split("::")[0];
  if (crate === "steadfetch") return module.split("::").slice(0, 2).join("::");
  return LIBRARY.includes(crate) ? "the standard library" : module.includes("::") ? "other crates" : module;
}

export function tell({ goal, ours, peers }) {
  const { brotli } = ours["index.js"];
  const row = ([name, size]) => [name, ...[size.raw, size.gzip, size.brotli].map(bytes), ratio(brotli, size.brotli)];
  const all = [...Object.entries(peers), ["**steadfetch**", ours["index.js"]]].sort(
    ([, a], [, b]) => a.brotli - b.brotli,
  );
  const parts = OURS.slice(1).map((name) => row([`steadfetch, ${WORDS[name]}`, ours[name]]).with(-1, ""));
  return `Bytes, minified by esbuild and compressed at the strongest settings; steadfetch as it ships, opossum by its own build for
browsers. Of query-core \`QueryClient\` alone, of cockatiel what retry and circuit need.

${table(["", "minified", "gzip", "brotli", "ours is"], [...all.map(row), ...parts])}
Ours is ${digits(brotli / peers.ky.brotli, 2)} times ky, and ${against(brotli, goal)} the goal of ${bytes(goal)} bytes. What the functions of the
WebAssembly take is in [functions.md](functions.md).
`;
}

const bytes = (count) => count.toLocaleString("en-GB");
const against = (value, goal) =>
  value > goal ? `${digits(value / goal, 2)} times` : `${bytes(goal - value)} bytes below`;

/** Committed, so that a change shows which functions it made grow. */
export function pages({ functions }) {
  const { code, data, count, modules, largest } = functions;
  const total = Object.values(modules).reduce((sum, each) => sum + each, 0);
  const share = (part) => `${((100 * part) / total).toFixed(1)} %`;
  const owners = {};
  for (const [name, size] of Object.entries(modules)) owners[ownerOf(name)] = (owners[ownerOf(name)] ?? 0) + size;
  const ownersTable = table(
    ["", "bytes", "share"],
    Object.entries(owners).map(([name, size]) => [name, bytes(size), share(size)]),
  );
  const modulesTable = table(
    ["module", "bytes", "share"],
    Object.entries(modules).map(([name, size]) => [`\`${name}\``, bytes(size), share(size)]),
  );
  const largestTable = table(
    ["function", "bytes", "share"],
    largest.map(({ name, bytes: size }) => [`\`${name.replaceAll("|", "\\|")}\``, bytes(size), share(size)]),
  );
  return {
    "functions.md": `# What the WebAssembly is made of

Written by \`npm run bench -- size\`: the bytes of each function before compression, in a build that keeps their names. A
function that was inlined counts where it went.

${count} functions in ${bytes(code)} bytes of code, and ${bytes(data)} bytes of data.

${ownersTable}
## By module

${modulesTable}
## The ${largest.length} largest

${largestTable}`,
  };
}

export function plots({ goal, ours, peers }) {
  const rows = [...Object.entries(peers), ["steadfetch", ours["index.js"]]]
    .sort(([, a], [, b]) => a.brotli - b.brotli)
    .map(([label, { brotli }]) => ({
      label: label === "loop" ? "hand-written loop" : label,
      value: brotli / 1_000,
      own: label === "steadfetch",
    }));
  return {
    "size.svg": bars({
      title: "Size",
      desc: "What a page loads, minified, brotli; steadfetch with its WebAssembly inside",
      unit: "kB",
      mark: { value: goal / 1_000, label: "our goal" },
      groups: [{ rows }],
    }),
  };
}

/** For the table of the README. */
export function columns({ ours, peers }) {
  const sizes = { steadfetch: ours["index.js"], ...peers };
  const cells = Object.entries(sizes).map(([name, { brotli }]) => [name, `${(brotli / 1_000).toFixed(1)} kB`]);
  return { "Size, brotli": Object.fromEntries(cells) };
}
