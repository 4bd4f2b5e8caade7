// What `debug` tells developers, and that it tells nothing without it.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { createFetch } from "../pkg/dist/index.js";
import { answer, D0, over, scenario } from "./support/cases.mjs";

const DEBUG = over(D0, { debug: true });

/** Another origin for each scenario, since each cause is told once. */
let places = 0;
const place = () => `https://place-${++places}.test/x`;

/** What is told on the console meanwhile. */
async function told(act) {
  const { warn } = console;
  const texts = [];
  console.warn = (text) => texts.push(text);
  try {
    await act();
  } finally {
    console.warn = warn;
  }
  return texts;
}

function cors(status, headers) {
  return Object.defineProperty(answer(status, { headers }), "type", { value: "cors" });
}

async function end(page, promise) {
  const seen = page.see(promise);
  await page.to(page.t + 5_000);
  assert.notEqual(seen.at, undefined);
  return seen;
}

describe("what debug tells developers", () => {
  const causes = {
    "a Retry-After that CORS hides": [
      /place-\d+\.test\/x was answered 429 .*Access-Control-Expose-Headers: Retry-After/,
      async (page, client, url) => {
        page.script(() => Promise.resolve(cors(429)));
        await end(page, client(url));
      },
    ],
    "a POST that was not sent again for want of a key": [
      /^steadfetch: POST .*idempotencyKey: "auto"/,
      async (page, client, url) => {
        page.script(503);
        await end(page, client(url, { method: "POST", body: "b" }));
      },
    ],
    "a layer above that retries": [
      /called again and again/,
      async (page, client, url) => {
        page.script(503);
        for (let i = 0; i < 3; i++) await end(page, client(url));
      },
    ],
    "a request that cannot be made": [
      /^steadfetch: a call failed, and will each time \(invalid-request\): TypeError: .*place-\d+\.test\/x[^?]*$/,
      async (page, client, url) => {
        await end(page, client(`//${url.replace("https://", "a:b:c@")}?secret`));
      },
    ],
    "a callback that throws": [
      /^steadfetch: a call failed, and will each time \(callback-threw\): Error: https:\/\/place-\d+\.test\/x$/,
      async (page, client, url) => {
        page.script(503);
        const shouldRetry = () => {
          throw new Error(url);
        };
        await end(page, client.start(url, { retry: { shouldRetry } }).response);
      },
    ],
    "a layer below that retries": [
      /went out 3 times for 1 attempts/,
      async (page, client, url) => {
        page.script(200);
        const entries = () => [1, 2, 3].map(() => ({ startTime: performance.now() }));
        performance.getEntriesByName = (name) => (name === url ? entries() : []);
        try {
          await end(page, client(url));
        } finally {
          delete performance.getEntriesByName;
        }
      },
    ],
  };
  for (const [cause, [expected, act]] of Object.entries(causes)) {
    scenario(`${cause}, once`, async (page) => {
      const url = place();
      const texts = await told(async () => {
        await act(page, createFetch(DEBUG), url);
        await act(page, createFetch(DEBUG), url);
      });
      assert.equal(texts.length, 1, texts.join("\n"));
      assert.match(texts[0], expected);
    });

    scenario(`${cause}: nothing without debug`, async (page) => {
      assert.deepEqual(await told(() => act(page, createFetch(D0), place())), []);
    });

    scenario(`${cause}: also in a development build`, async (page) => {
      const before = process.env.NODE_ENV;
      process.env.NODE_ENV = "development";
      try {
        assert.equal((await told(() => act(page, createFetch(D0), place()))).length, 1);
      } finally {
        if (before === undefined) delete process.env.NODE_ENV;
        else process.env.NODE_ENV = before;
      }
    });
  }

  scenario("nothing where all is well", async (page) => {
    const client = createFetch(DEBUG);
    const texts = await told(async () => {
      page.script(503, () => Promise.resolve(cors(429, { "retry-after": "1" })), 200);
      const url = place();
      await end(page, client(url));
      for (let i = 0; i < 5; i++) await end(page, client(url));
      // A person's click is no layer.
      page.script(503);
      const call = client.start(place());
      await end(page, call.response);
      for (let i = 0; i < 3; i++) await end(page, call.retry());
      page.script(503);
      await end(page, client(place(), { method: "POST", body: "b", idempotencyKey: "auto" }));
      // Who does not retry needs no advice about retrying.
      const once = createFetch({ ...DEBUG, retry: false });
      for (let i = 0; i < 4; i++) await end(page, once(`${place()}?once`));
      const same = place();
      for (let i = 0; i < 4; i++) await end(page, once(same));
      await end(page, once(place(), { method: "POST", body: "b" }));
      // Polling that fails, with a pause between.
      const polled = place();
      for (let i = 0; i < 3; i++) {
        await end(page, client(polled));
        await page.to(page.t + 60_000);
      }
    });
    assert.deepEqual(texts, []);
  });

  scenario("debug is true or false", async () => {
    assert.throws(() => createFetch({ debug: 1 }), /steadfetch: debug must be true or false/);
  });
});
