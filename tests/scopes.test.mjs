// Where in Vue a composable may be called: it lives as long as the scope it is called in, which is not always that of a
// component.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "./support/browser.mjs";
import { buildPages } from "./support/builds.mjs";
import { startServer, until } from "./support/server.mjs";

const source = fileURLToPath(new URL("support/scopes", import.meta.url));

let server;
let page;
before(
  async () => {
    server = await startServer({ files: await buildPages("scopes", [{ name: "vue", source, main: "main.js" }]) });
  },
  { timeout: 120_000 },
);
after(() => server?.close());

const visit = (name, act) =>
  test(name, { timeout: 30_000 }, async () => {
    page = await (await launch()).newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.stack));
    try {
      await page.goto(`${server.url}/vue/`);
      await page.waitForFunction(() => globalThis.Vue);
      await act();
      assert.deepEqual(faults, []);
    } finally {
      await page.close();
    }
  });
const settled = () => page.waitForTimeout(300);

describe("a composable of Vue", () => {
  visit("that several components share outlives the first of them", async () => {
    server.script("/shared", [503, 200]);
    await page.evaluate(() => {
      const { createApp, effectScope, h, ref } = Vue;
      const client = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000 } });
      let shared;
      const together = () => (shared ??= effectScope(true).run(() => request(client, "/shared")));
      const report = (id) => ({
        setup() {
          const { state } = together();
          return () => h("p", { id }, state.value.status);
        },
      });
      const [first, second] = [report("first"), report("second")];
      globalThis.both = ref(true);
      createApp(() => [both.value && h(first), h(second)]).mount("#app");
      globalThis.retryNow = () => shared.retryNow();
    });
    await page.locator("#second", { hasText: "waiting" }).waitFor();
    await page.evaluate(() => {
      both.value = false;
    });
    await page.locator("#first").waitFor({ state: "detached" });
    await page.evaluate(() => retryNow());
    await page.locator("#second", { hasText: "success" }).waitFor();
  });

  visit("asks for nothing where its scope has ended before the component is mounted", async () => {
    server.script("/ended", [200]);
    await page.evaluate(() => {
      const { createApp, effectScope, h } = Vue;
      createApp({
        setup() {
          const scope = effectScope();
          scope.run(() => request(createFetch(), "/ended"));
          scope.stop();
          return () => h("p", "mounted");
        },
      }).mount("#app");
    });
    await page.getByText("mounted").waitFor();
    await settled();
    assert.equal(server.hits("/ended").length, 0);
  });

  visit("begins where the component is mounted already", async () => {
    server.script("/mounted", [200]);
    await page.evaluate(() => {
      const { createApp, h, onMounted, shallowRef } = Vue;
      createApp({
        setup() {
          const asked = shallowRef();
          onMounted(() => {
            asked.value = request(createFetch(), "/mounted");
          });
          return () => h("p", asked.value?.state.value.status);
        },
      }).mount("#app");
    });
    await page.getByText("success").waitFor();
  });

  visit("begins and ends with a scope outside of components", async () => {
    server.script("/outside", ["stall"]);
    await page.evaluate(() => {
      globalThis.scope = Vue.effectScope();
      scope.run(() => request(createFetch(), "/outside"));
    });
    await until(() => server.hits("/outside").length === 1);
    await page.evaluate(() => scope.stop());
    await until(() => server.hits("/outside")[0].aborted);
  });

  visit("takes a call that is in a deep ref, which leaves it as it is", async () => {
    server.script("/deep", [200]);
    const found = await page.evaluate(async () => {
      const call = Vue.ref(createFetch().start("/deep"));
      const response = await call.value;
      const state = Vue.effectScope().run(() => stateOf(call));
      return [response.status, call.value.state.status, call.value.request.method, state.value.status];
    });
    assert.deepEqual(found, [200, "success", "GET", "success"]);
  });
});
