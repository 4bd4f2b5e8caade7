// What bundlers leave out of a page that does not use it, above all the bytes of the core.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { before, describe, test } from "node:test";
import * as esbuild from "esbuild";
import { BUNDLERS, project, projects, require } from "./support/bundlers/index.mjs";

const PATIENCE = { timeout: 120_000 };
const USES = 'import { createFetch } from "steadfetch"; globalThis.kept = createFetch();';
const GUARD = 'import { isHttpError } from "steadfetch"; globalThis.kept = isHttpError(globalThis.error);';
const NOTHING = "globalThis.kept = 7;";
const ADAPTERS = ["react", "preact", "vue", "svelte", "solid", "angular", "lit", "xstate"];
/** Those whose outbox has something of its own, an empty snapshot, and what watches in them. */
const WATCHERS = {
  react: { client: "useClient", outbox: "useOutbox" },
  preact: { client: "useClient", outbox: "useOutbox" },
  vue: { client: "useClient", outbox: "useOutbox" },
  solid: { client: "fromClient", outbox: "fromOutbox" },
  angular: { client: "injectClient", outbox: "injectOutbox" },
};
/** What adapters take from the page. */
const FRAMEWORKS = ["react", "preact", "vue", "svelte", "solid-js", "@angular/core", "lit", "xstate"];
const isFramework = (id) => FRAMEWORKS.some((name) => id === name || id.startsWith(`${name}/`));

const SHAKING = {
  esbuild: BUNDLERS.esbuild,
  /** With the plugin that lets it look into node_modules, and heed `sideEffects` there. */
  async Rollup(folder) {
    const { rollup } = require("rollup");
    const { nodeResolve } = require("@rollup/plugin-node-resolve");
    const bundle = await rollup({
      input: path.join(folder, "main.js"),
      external: isFramework,
      plugins: [nodeResolve()],
      onLog: (level, log) => assert.notEqual(level, "warn", log.message),
    });
    await bundle.write({ dir: path.join(folder, "dist"), format: "es" });
    await bundle.close();
  },
  webpack: BUNDLERS.webpack,
};

before(() => rmSync(projects, { recursive: true, force: true }));

let made = 0;
/** What becomes of a page with that code: its size in bytes, and its text, which is not to be printed. */
async function page(bundle, code) {
  const folder = project(`shaken-${made++}`, code);
  await bundle(folder);
  const dist = path.join(folder, "dist");
  // A chunk that nothing names any more is written, and never loaded.
  const others = new Set(readdirSync(dist));
  const files = ["main.js"];
  for (const file of files) {
    others.delete(file);
    const text = readFileSync(path.join(dist, file), "utf8");
    for (const other of others) if (text.includes(other)) files.push(other);
    for (const named of files) others.delete(named);
  }
  const texts = files.map((file) => readFileSync(path.join(dist, file), "utf8"));
  return { text: texts.join("\n"), size: texts.reduce((total, text) => total + Buffer.byteLength(text), 0) };
}

for (const [name, bundle] of Object.entries(SHAKING)) {
  describe(`a page bundled by ${name}`, () => {
    let whole;
    before(async () => {
      whole = await page(bundle, USES);
      assert.ok(/new WebAssembly/.test(whole.text));
    });

    test("that only asks what an error is has no WebAssembly", PATIENCE, async () => {
      const { text, size } = await page(bundle, GUARD);
      assert.ok(text.includes("@@steadfetch"));
      assert.ok(size < whole.size / 20, `${size} B of ${whole.size}`);
      assert.ok(!/new WebAssembly|BroadcastChannel/.test(text));
    });

    test("that imports it and uses nothing has nothing of it", PATIENCE, async () => {
      const { size: nothing } = await page(bundle, NOTHING);
      for (const unused of ['import "steadfetch";', 'import { createFetch, steadfetch } from "steadfetch";']) {
        assert.equal((await page(bundle, `${unused} ${NOTHING}`)).size, nothing, unused);
      }
    });

    test("that watches clients has nothing of an outbox", PATIENCE, async () => {
      const watching = (what) => {
        const lines = Object.entries(WATCHERS).map(([adapter, { client, outbox }]) => {
          const used = what === "client" ? client : outbox;
          return `import { ${client} as ${adapter}Client, ${outbox} as ${adapter}Outbox } from "steadfetch/${adapter}";
            globalThis.${used} = ${adapter}${what === "client" ? "Client" : "Outbox"};`;
        });
        return page(bundle, lines.join("\n"));
      };
      const asks = ".getServerSnapshot(";
      assert.equal((await watching("outbox")).text.split(asks).length - 1, Object.keys(WATCHERS).length);
      assert.ok(!(await watching("client")).text.includes(asks));
    });

    for (const adapter of [...ADAPTERS, "testing", "devtools", "outbox"]) {
      test(`has nothing of steadfetch/${adapter} where it is not used`, PATIENCE, async () => {
        const { size: nothing } = await page(bundle, NOTHING);
        const { size } = await page(bundle, `import * as unused from "steadfetch/${adapter}"; ${NOTHING}`);
        assert.equal(size, nothing);
      });
    }

    test("keeps the element, which registers itself where it is imported", PATIENCE, async () => {
      const { text } = await page(bundle, `import "steadfetch/element"; ${NOTHING}`);
      assert.ok(text.includes("customElements"));
      assert.ok(/["'`]steadfetch-status["'`]/.test(text));
      assert.ok(!text.includes("WebAssembly"));
    });
  });
}

test("types alone bring no code", PATIENCE, async () => {
  const contents = `
    import type { CallState, SteadFetch } from "steadfetch";
    import { type Call, type CircuitState } from "steadfetch";
    export const kept = (state: CallState | Call | SteadFetch | CircuitState): unknown => state;
  `;
  const stdin = { contents, loader: "ts", resolveDir: projects };
  for (const tsconfigRaw of [{}, { compilerOptions: { verbatimModuleSyntax: true } }]) {
    const { outputFiles } = await esbuild.build({
      stdin,
      bundle: true,
      format: "esm",
      minify: true,
      write: false,
      tsconfigRaw,
    });
    assert.ok(outputFiles[0].contents.length < 100);
  }
});
