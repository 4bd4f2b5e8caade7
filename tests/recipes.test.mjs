// Other libraries over the client, as pkg-template/with-other-libraries.md has them, against a real server.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { createFetch } from "steadfetch";
import { drivers } from "./consumers/libraries/drivers.mjs";
import { startServer, until } from "./support/server.mjs";

const PATH = "/api/report";
const REPORT = { text: "hello" };
const JSON_ = { "Content-Type": "application/json" };
/** Twice at most, and no circuit that would open meanwhile. */
const TWICE = { retry: { limit: 1, delay: 1 }, breaker: false, budget: false };
/** SWR knows no cancel; the other two never send again by themselves. */
const NO_CANCEL = ["SWR"];
const NO_RETRIES = ["openapi-fetch", "axios"];

for (const [name, drive] of Object.entries(drivers)) {
  const body = JSON.stringify(name === "Apollo Client" ? { data: { report: REPORT } } : REPORT);
  const answer = { status: 200, headers: JSON_, body };
  const missing = { status: 404, headers: JSON_, body: '{"error":"none"}' };

  describe(name, () => {
    let server;
    let client;
    let made;
    beforeEach(async () => {
      server = await startServer();
      client = createFetch({ retry: { delay: 1 } });
      made = [];
    });
    afterEach(async () => {
      client.dispose();
      for (const each of made) each.close?.();
      await server.close();
    });

    const recipe = (fetch = client) => {
      const driver = drive(server.url + PATH, fetch);
      made.push(driver);
      return driver;
    };

    test("a 503 and then a 200 are two requests, and the data", async () => {
      server.script(PATH, [503, answer]);
      assert.deepEqual({ ...(await recipe().get()) }, REPORT);
      assert.equal(server.hits(PATH).length, 2);
    });

    test("a 404 is told by the library's own error, after one request", async () => {
      server.script(PATH, [missing]);
      const { get, status } = recipe();
      const error = await get().then(() => assert.fail("it went well"), (error) => error); // biome-ignore format: short
      assert.equal(status(error), 404);
      assert.equal(server.hits(PATH).length, 1);
    });

    const steps = { "an attempt": "stall", "a wait": { status: 503, retryAfter: 30 } };
    for (const [where, step] of Object.entries(NO_CANCEL.includes(name) ? {} : steps)) {
      test(`the library's own cancel ends the call in ${where}`, async () => {
        server.script(PATH, [step]);
        const { get, cancel } = recipe();
        const states = statesOf(client);
        get().catch(() => {});
        await until(
          () => server.hits(PATH).length === 1 && states.at(-1) === (step === "stall" ? "loading" : "waiting"),
        );
        cancel();
        await until(() => states.at(-1) === "cancelled", "the call to be cancelled", { within: 2_000 });
        await until(() => server.hits(PATH)[0].closed);
        assert.equal(server.hits(PATH)[0].aborted, step === "stall");
        assert.equal(server.hits(PATH).length, 1);
      });
    }

    if (!NO_RETRIES.includes(name)) {
      test("retries of the library's that are left on multiply the requests", async () => {
        server.script(PATH, [503]);
        const twice = client.extend(TWICE);
        await assert.rejects(recipe(twice).get());
        assert.equal(server.hits(PATH).length, 2);
        await assert.rejects(recipe(twice).insist());
        assert.equal(server.hits(PATH).length, 2 + 3 * 2);
      });
    }

    if (name === "SWR") {
      test("a component that is unmounted leaves its call going", async () => {
        server.script(PATH, ["stall"]);
        const { get, unmount } = recipe();
        const states = statesOf(client);
        get().catch(() => {});
        await until(() => server.hits(PATH).length === 1);
        unmount();
        await new Promise((resolve) => setTimeout(resolve, 50));
        assert.deepEqual(states, ["loading"]);
      });
    }

    if (name === "Apollo Client") {
      test("a mutation is sent once", async () => {
        server.script(PATH, [503]);
        await assert.rejects(recipe().write());
        assert.deepEqual(
          server.hits(PATH).map(({ method }) => method),
          ["POST"],
        );
      });
    }
  });
}

/** What the calls of a client are, from now on. */
function statesOf(client) {
  const states = [];
  client.addEventListener("statechange", ({ detail }) => states.push(detail.state.status));
  return states;
}
