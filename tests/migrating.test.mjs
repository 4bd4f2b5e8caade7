// What docs/guide/migrating.md says to write in the place of other libraries sends and answers as they do.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { afterEach, beforeEach, describe, test } from "node:test";
import { startServer } from "./support/server.mjs";

const PATH = "/report.json";
const REPORT = { title: "Parcels" };
const answer = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(REPORT) };
/** Those that are of circuits, and how many requests go out before theirs opens. */
const CIRCUITS = { cockatiel: 5, opossum: 5 };
/** It knows nothing of retries. */
const ONCE = ["opossum"];
/** As with fetch, no status rejects. */
const RESOLVES = ["fetch-retry"];
/** It takes every error for one that is worth another attempt, here. */
const INSISTS = ["cockatiel"];

const folder = new URL("consumers/migrating/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".js"));

for (const file of names) {
  const name = file.replace(".js", "");
  describe(`coming from ${name}`, () => {
    let server;
    let code;
    beforeEach(async () => {
      server = await startServer();
      // Anew for each test: what came before would count for its circuits.
      code = await import(`${new URL(file, folder)}?${server.url}`);
    });
    afterEach(async () => {
      code.old?.shutdown?.();
      await server.close();
    });

    /** What both say and send, of so many calls one after the other. */
    async function compare(steps, calls = 1) {
      const outcomes = [];
      for (const call of [code.before, code.after]) {
        server.script(PATH, steps);
        const earlier = server.hits(PATH).length;
        const told = [];
        for (let i = 0; i < calls; i++) {
          told.push(await call(server.url + PATH).catch(() => "rejected"));
        }
        outcomes.push({ told, sent: server.hits(PATH).length - earlier });
      }
      assert.deepEqual(outcomes[1], outcomes[0]);
      return outcomes[1];
    }

    test("a success is asked for once", async () => {
      assert.deepEqual(await compare([answer]), { told: [REPORT], sent: 1 });
    });

    if (!ONCE.includes(name)) {
      test("two failures and a success are three requests and the report", async () => {
        assert.deepEqual(await compare([503, 503, answer]), { told: [REPORT], sent: 3 });
      });

      test("after three retries it is over", async () => {
        assert.deepEqual(await compare([503]), { told: ["rejected"], sent: 4 });
      });
    }

    const missing = { ...answer, status: 404 };
    if (INSISTS.includes(name)) {
      test("a 404 is asked for once, as it was not before", async () => {
        for (const [call, sent] of [
          [code.before, 4],
          [code.after, 1],
        ]) {
          server.script(PATH, [missing]);
          const earlier = server.hits(PATH).length;
          await assert.rejects(call(server.url + PATH));
          assert.equal(server.hits(PATH).length - earlier, sent);
        }
      });
    } else {
      test("a 404 is asked for once", async () => {
        const told = RESOLVES.includes(name) ? REPORT : "rejected";
        assert.deepEqual(await compare([missing]), { told: [told], sent: 1 });
      });
    }

    if (name in CIRCUITS) {
      test("an open circuit lets nothing pass", async () => {
        const { told, sent } = await compare([503], CIRCUITS[name] + 2);
        assert.equal(sent, CIRCUITS[name]);
        assert.ok(told.every((value) => value === "rejected"));
      });
    }
  });
}
