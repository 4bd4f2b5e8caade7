// The outbox as tests of crashes have it: a build that names the points at which a page may die.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { bundleOutbox } from "../../../scripts/build.mjs";
import { install, packageFiles } from "../packed.mjs";

const SOURCE = new URL("../../../pkg-template/outbox/point.ts", import.meta.url);
const SCRIPT = { "Content-Type": "text/javascript", "Cache-Control": "max-age=3600" };
const HTML = { "Content-Type": "text/html", "Cache-Control": "max-age=3600" };
const here = (name) => readFile(fileURLToPath(new URL(name, import.meta.url)), "utf8");

/** The names of all points, as their one list has them. */
export async function pointNames() {
  const { code } = await transform(await readFile(SOURCE, "utf8"), { loader: "ts", format: "esm" });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).POINTS;
}

/** "/" and "/tab", "/crashes/..." with the modules of this folder, "/points/..." with that build and what goes with it. */
export async function crashFiles() {
  const dist = path.join(await install(), "node_modules/steadfetch/dist");
  const { js, fallback } = await bundleOutbox({ points: true });
  const scripts = {
    "/points/index.js": await readFile(path.join(dist, "index.js")),
    "/points/outbox-sw.js": await readFile(path.join(dist, "outbox-sw.js")),
    "/points/outbox.js": js,
    "/points/outbox-fallback.js": fallback,
    "/worker.mjs": await here("worker.mjs"),
  };
  for (const name of ["page.mjs", "tab.mjs"]) scripts[`/crashes/${name}`] = await here(name);
  const tab = `<!doctype html><meta charset="utf-8"><title>tab</title><link rel="icon" href="data:,"><script type="module" src="/crashes/tab.mjs"></script>`;
  return packageFiles({
    "/tab": { headers: HTML, body: tab },
    ...Object.fromEntries(Object.entries(scripts).map(([name, body]) => [name, { headers: SCRIPT, body }])),
  });
}
