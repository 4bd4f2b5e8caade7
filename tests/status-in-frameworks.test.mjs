// <steadfetch-status> in the markup of each framework, which has to hand over objects as properties.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import vue from "@vitejs/plugin-vue";
import { angular, FRAMEWORKS } from "../scripts/lib/apps.mjs";
import { atOnce, launch } from "./support/browser.mjs";
import { buildPages } from "./support/builds.mjs";
import { startServer } from "./support/server.mjs";

const sources = fileURLToPath(new URL("support/status", import.meta.url));
const OWN = {
  preact: () => ({}),
  vue: () => {
    const isCustomElement = (tag) => tag === "steadfetch-status";
    return { plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] };
  },
  angular: () => angular(path.join(sources, "angular", "tsconfig.json")),
};

let server;
before(
  async () => {
    const pages = FRAMEWORKS.map(({ name, main, config }) => ({
      name,
      source: path.join(sources, name),
      main: /x$/.test(main) ? "main.tsx" : "main.ts",
      config: OWN[name] ?? config,
    }));
    server = await startServer({ files: await buildPages("status", pages) });
  },
  { timeout: 300_000 },
);
after(() => server?.close());

describe("the status element", { concurrency: atOnce(2) }, () => {
  for (const { name, title } of FRAMEWORKS) {
    test(`is given a call, a client and texts by ${title}`, { timeout: 60_000 }, async () => {
      server.script(`/api/${name}`, [503, 200]);
      const page = await (await launch()).newPage();
      const faults = [];
      page.on("pageerror", (error) => faults.push(error.stack));
      page.on("console", (message) => {
        if (message.type() === "warning") faults.push(message.text());
      });
      await page.goto(`${server.url}/${name}/#/api/${name}`);
      const [ofCall, ofClient] = [0, 1].map((at) => page.locator("steadfetch-status").nth(at));
      await page.getByRole("button", { name: "Load" }).click();
      await ofCall
        .getByText(/Trying again in \d+ seconds? \(attempt 2 of 5\)/)
        .first()
        .waitFor();
      await ofClient.getByText("1 request is waiting").first().waitFor();
      await ofClient.getByRole("button", { name: "Try now" }).click();
      await ofCall.getByText("The report is here").first().waitFor();
      assert.equal(await ofClient.getAttribute("status"), null);
      assert.deepEqual(await page.evaluate(() => globalThis.clicks), ["steadfetch-try-now 1"]);
      assert.deepEqual(faults, []);
      await page.close();
    });
  }
});

test("the README says it with the words that are tested", () => {
  const readme = readFileSync(fileURLToPath(new URL("../pkg-template/README.md", import.meta.url)), "utf8");
  const rows = [...readme.matchAll(/^\| ([A-Z][\w ,]+) \| `(<steadfetch-status.*?>)`/gm)];
  const files = {
    Vue: "vue/Report.vue",
    Svelte: "svelte/Report.svelte",
    Angular: "angular/main.ts",
    Lit: "lit/main.ts",
  };
  const named = rows.flatMap(([, names, markup]) => names.split(", ").map((name) => [name, markup]));
  assert.deepEqual(named.map(([name]) => name).sort(), FRAMEWORKS.map(({ title }) => title).sort());
  for (const [name, markup] of named) {
    const source = readFileSync(path.join(sources, files[name] ?? `${name.toLowerCase()}/main.tsx`), "utf8");
    assert.ok(source.includes(markup), `${name}: ${markup}`);
  }
});
