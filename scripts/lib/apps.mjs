// Builds the small apps, one a framework, with Vite and the framework's own plugin, against the package as it is
// installed. `buildApps({ out })` leaves a folder for each.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./run.mjs";

const sources = path.join(root, "www", "apps");

/** In the order of the tabs; the last two are without a framework. `twin`: the app of another, with other libraries in the place of its own. */
export const APPS = [
  { name: "react", title: "React", main: "main.jsx" },
  { name: "preact", title: "Preact", twin: "react", main: "main.jsx", config: preact },
  { name: "vue", title: "Vue", main: "main.js", config: () => plugin("@vitejs/plugin-vue") },
  { name: "svelte", title: "Svelte", main: "main.js", config: svelte },
  { name: "solid", title: "Solid", main: "main.jsx", config: (ssr) => plugin("vite-plugin-solid", { ssr }) },
  { name: "angular", title: "Angular", main: "main.ts", config: () => angular() },
  { name: "lit", title: "Lit", main: "main.js" },
  { name: "element", title: "Element", main: "main.js" },
  { name: "devtools", title: "Inspector", main: "main.js" },
].filter(({ name, twin = name }) => existsSync(path.join(sources, twin)));

/** Those that show an adapter. */
export const FRAMEWORKS = APPS.filter(({ name }) => !["element", "devtools"].includes(name));

/** For the tests alone: the app of React with the version before. */
export const REACT_18 = { name: "react-18", title: "React 18", twin: "react", main: "main.jsx", config: react18 };

async function plugin(name, ...options) {
  const { default: make, ...named } = await import(name);
  return { plugins: [(make ?? Object.values(named)[0])(...options)] };
}

async function svelte() {
  const { svelte } = await import("@sveltejs/vite-plugin-svelte");
  return { plugins: [svelte({ configFile: false })] };
}

function preact() {
  const alias = {
    "react-dom/client": "preact/compat/client",
    react: "preact/compat",
    "steadfetch/react": "steadfetch/preact",
  };
  return { resolve: { alias: toList(alias) }, oxc: { jsx: { runtime: "automatic", importSource: "preact" } } };
}

function react18() {
  const require = createRequire(path.join(root, "tests", "consumers", "react-18", "package.json"));
  const names = ["react-dom/client", "react/jsx-runtime", "react-dom", "react"];
  return { resolve: { alias: toList(Object.fromEntries(names.map((name) => [name, require.resolve(name)]))) } };
}

/** Angular's compiler wants another TypeScript than ours, so it lives beside. The plugin warns of Vite's own changes. */
export async function angular(tsconfig = path.join(sources, "angular", "tsconfig.json")) {
  const require = createRequire(path.join(root, "tests", "consumers", "angular", "package.json"));
  const { default: make } = await import(pathToFileURL(require.resolve("@analogjs/vite-plugin-angular")));
  return { plugins: [make({ tsconfig })], logLevel: "error" };
}

/** Whole names only: "react" must not catch "react/jsx-runtime". */
const toList = (alias) =>
  Object.entries(alias).map(([name, replacement]) => ({ find: new RegExp(`^${name}$`), replacement }));

/** The pages of the demo that are no apps. */
const PAGES = [
  { name: "", title: "Playground", folder: "" },
  { name: "outbox", title: "Outbox", folder: "outbox/" },
];

/** The line of tabs of a page that lies `up` of the demo's own folder. */
export function tabs(current, up) {
  const apps = APPS.map((app) => ({ ...app, folder: `apps/${app.name}/` }));
  const items = [...PAGES, ...apps].map(({ name, title, folder }) => {
    const href = `${up}${folder}` || "./";
    return `<a href="${href}"${name === current ? ' aria-current="page"' : ""}>${title}</a>`;
  });
  return `<nav class="tabs" aria-label="Demos">${items.join("")}</nav>`;
}

/**
 * @param {object} [how]
 * @param {string} [how.out]  the folder that gets one for each app
 * @param {object[]} [how.apps]
 * @param {boolean} [how.server]  also `server.js`, which renders the app to markup, and with development's own warnings
 */
export async function buildApps({ out = path.join(root, "target", "apps"), apps = APPS, server = false } = {}) {
  const { build } = await import("vite");
  const template = readFileSync(path.join(sources, "template.html"), "utf8");
  for (const { name, title, twin = name, main, config } of apps) {
    const rest = (await config?.(server)) ?? {};
    const make = (input, output) =>
      build({
        root: path.join(sources, twin),
        configFile: false,
        logLevel: "warn",
        mode: server ? "development" : "production",
        ...rest,
        define: server ? { "process.env.NODE_ENV": '"development"' } : {},
        cacheDir: path.join(root, "target", "vite", name),
        build: {
          outDir: path.join(out, name),
          emptyOutDir: output === "main.js",
          modulePreload: false,
          minify: !server,
          ssr: output === "server.js",
          rollupOptions: {
            input: path.join(sources, twin, input),
            output: { entryFileNames: output, assetFileNames: "[name][extname]" },
          },
        },
        ssr: { noExternal: true },
      });
    await make(main, "main.js");
    if (server) await make(main.replace("main", "server"), "server.js");
    const fields = { name, title, tabs: tabs(name, "../../") };
    const html = template.replace(/\{\{(\w+)\}\}/g, (_, field) => fields[field]);
    writeFileSync(path.join(out, name, "index.html"), html);
  }
}
