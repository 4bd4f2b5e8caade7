// The components of the README as they stand there, in a project of each framework that Vite builds, over a server that
// fails once.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { angular, FRAMEWORKS } from "../scripts/lib/apps.mjs";
import { atOnce, launch } from "./support/browser.mjs";
import { buildPages } from "./support/builds.mjs";
import { startServer } from "./support/server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const projects = path.join(root, "target", "readme-sources");

/** What a new project has besides the component: it mounts it on an address. */
const MOUNTS = {
  react: [
    "react.tsx",
    'import { createRoot } from "react-dom/client"; createRoot(place).render(<Report url={url} />);',
  ],
  preact: ["preact.tsx", 'import { render } from "preact"; render(<Report url={url} />, place);'],
  vue: ["vue.vue", 'import { createApp } from "vue"; createApp(Report, { url }).mount(place);'],
  svelte: ["svelte.svelte", 'import { mount } from "svelte"; mount(Report, { target: place, props: { url } });'],
  solid: ["solid.tsx", 'import { render } from "solid-js/web"; render(() => <Report url={url} />, place);'],
  angular: [
    "angular.ts",
    `import { Component, provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
@Component({ selector: "app-root", imports: [Report], template: \`<app-report [url]="url" />\` })
class Root {
  readonly url = url;
}
place?.append(document.createElement("app-root"));
bootstrapApplication(Root, { providers: [provideZonelessChangeDetection()] });`,
  ],
  lit: ["lit.ts", 'const panel = document.createElement("report-panel"); panel.url = url; place.append(panel);'],
};
const TESTED = FRAMEWORKS.filter(({ name }) => name in MOUNTS);

let server;
before(
  async () => {
    server = await startServer({ files: await buildPages("readme", TESTED.map(page)) });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

/** Writes the project of a framework. */
function page({ name, config }) {
  const [component, mount] = MOUNTS[name];
  const project = path.join(projects, name);
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  for (const file of [component, "buttons.ts", "sentence.ts"]) {
    cpSync(path.join(root, "examples", file), path.join(project, file));
  }
  const file = component.endsWith("x") ? "main.tsx" : "main.ts";
  const named = /\.(vue|svelte)$/.test(component) ? "Report" : name === "lit" ? "" : "{ Report }";
  const load = `import ${named && `${named} from `}"./${component.replace(/\.tsx?$/, "")}";`;
  const place = 'const place = document.getElementById("app"); const url = location.hash.slice(1);';
  writeFileSync(path.join(project, file), `${load}\n${mount.replace(/^(import .*?;\n?)*/, `$&\n${place}\n`)}`);
  const tsconfig = path.join(project, "tsconfig.json");
  if (name === "angular") cpSync(path.join(root, "www", "apps", "angular", "tsconfig.json"), tsconfig);
  const own = {
    preact: () => ({ oxc: { jsx: { runtime: "automatic", importSource: "preact" } } }),
    angular: () => angular(tsconfig),
  };
  // React and Preact need nothing of their own; the others their plugin.
  return { name, source: project, main: file, config: own[name] ?? config };
}

describe("the component of the README", { concurrency: atOnce(2) }, () => {
  for (const { name, title } of TESTED) {
    test(`works as written in ${title}`, { timeout: 60_000 }, async () => {
      server.script(`/api/${name}`, [{ status: 503, retryAfter: 30 }, 200]);
      const page = await (await launch()).newPage();
      const faults = [];
      page.on("pageerror", (error) => faults.push(error.stack));
      await page.goto(`${server.url}/${name}/#/api/${name}`);
      await page.getByText(/Trying again in \d+ s/).waitFor();
      await page.getByRole("button", { name: "Try now" }).click();
      await page.getByText("Done").waitFor();
      assert.equal(server.hits(`/api/${name}`).length, 2);
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
});
