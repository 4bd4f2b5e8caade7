import assert from "node:assert/strict";
import { test } from "node:test";
import { createFetch } from "steadfetch";
import { script, virtualClock } from "steadfetch/testing";

test("the report comes after an outage", async () => {
  const clock = virtualClock();
  try {
    const server = script(["drop", 503, { body: "hello" }]);
    const fetch = createFetch({ fetch: server });
    const text = fetch("https://api.example/report.json").then((response) => response.text());
    await clock.advance(10_000); // milliseconds that take no time
    assert.equal(await text, "hello");
    assert.equal(server.requests.length, 3);
    assert.equal(clock.timers, 0);
  } finally {
    clock.restore();
  }
});
