// The engines of browsers that the tests run in: what is missing of each (an empty text when nothing is), its version, and
// what came of the tests, which a run leaves in target/engines.json.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  chromium,
  firefox,
  miniBrowser,
  missingForChromium,
  missingForFirefox,
  missingForWebKit,
} from "../toolchain.mjs";
import { output, root } from "./run.mjs";

export const engines = {
  chromium: {
    title: "Chromium",
    missing: missingForChromium,
    version: () => number(output(chromium(), ["--version"])),
  },
  firefox: {
    title: "Firefox ESR",
    missing: missingForFirefox,
    version: () => number(output(firefox(), ["--version"])),
  },
  webkit: {
    title: "WebKitGTK",
    missing: missingForWebKit,
    version: () => number(output("xvfb-run", ["-a", miniBrowser(), "--version"])),
  },
};

/** Each test file that runs in every engine, and what it is about. */
export const AREAS = {
  "packed-browser": "Calls, states, circuits and aborts in a page",
  "abort-everywhere-browser": "Giving up at every step of a call",
  tabs: "Circuits that tabs share",
  outbox: "The outbox in a page",
  "outbox-tabs": "The outbox that tabs share",
  "outbox-store": "The store of the outbox",
  "outbox-worker": "The outbox in a service worker",
  element: "The status element",
  "status-in-frameworks": "The status element in frameworks",
  adapters: "The adapters",
  changes: "Components that change what they ask for",
  scopes: "Scopes of Vue",
  tracking: "What frameworks with signals note",
  readme: "The components of the README",
  devtools: "The inspector",
  "consumers-bundlers": "Bundled",
  demo: "The demo page",
};

/** Those about what is no engine of a browser, or only Chromium: what they are about. */
export const ELSEWHERE = {
  "packed-node": "Node 20",
  runtimes: "Node 22 and 24, Bun, Deno",
  "consumers-workerd": "workerd",
  "consumers-next": "Next.js, built by Turbopack and by webpack; server components, handlers in both runtimes",
  "consumers-nuxt": "Nuxt",
  "consumers-sveltekit": "SvelteKit",
  "consumers-astro": "Astro",
  ssr: "React, Vue, Svelte and Solid rendered on a server",
  contexts: "Workers of all kinds, frames, `file:`, isolated pages (Chromium)",
  "without-wasm": "The core as JavaScript (Node, Chromium)",
};

export const RESULTS = path.join(root, "target", "engines.json");

const number = (text) => text?.match(/\d+(\.\d+)+/)?.[0] ?? "of an unknown version";
const noted = {};
const notedElsewhere = {};

/** Keeps what came of a file in an engine, and hands it on. */
export function note(engine, file, result) {
  const { title, version } = engines[engine];
  noted[engine] ??= { title, version: version(), files: {} };
  const { passed, failed, exceptions = [] } = result;
  noted[engine].files[file] = { passed, failed, exceptions };
  save();
  return result;
}

/** The same of a file that is not about engines. */
export function noteElsewhere(file, result) {
  const { passed, failed } = result;
  notedElsewhere[file] = { passed, failed };
  save();
  return result;
}

function save() {
  mkdirSync(path.dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify({ engines: noted, elsewhere: notedElsewhere }, null, 2)}\n`);
}

/** In which engines something was tested and with what exceptions, as lines, and the titles of those where nothing was. */
export function told() {
  const missing = Object.keys(engines).filter((engine) => !noted[engine]);
  const lines = Object.values(noted).flatMap(({ title, version, files }) => {
    const all = Object.values(files);
    const total = (key) => all.reduce((sum, file) => sum + file[key], 0);
    const exceptions = all.flatMap((file) => file.exceptions.map(({ name, reason }) => `  not "${name}": ${reason}`));
    return [`tested in ${title} ${version}: ${total("passed")} passed, ${total("failed")} failed`, ...exceptions];
  });
  for (const engine of missing) {
    const what = engines[engine].missing();
    lines.push(`NOT TESTED in ${engines[engine].title}${what && `: ${what} not found, see npm run setup`}`);
  }
  return { lines, missing: missing.map((engine) => engines[engine].title) };
}
