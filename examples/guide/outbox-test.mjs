import assert from "node:assert/strict";
import { test } from "node:test";
import { createFetch } from "steadfetch";
import { createOutbox, memoryStorage } from "steadfetch/outbox";
import { script, virtualClock } from "steadfetch/testing";

test("a comment survives its page, and has the same key on every attempt", async () => {
  const clock = virtualClock();
  try {
    const storage = memoryStorage(); // what the pages of this test have in common
    const server = script(["drop", 503, 201]);
    const page = createOutbox(createFetch({ fetch: server }), { storage });
    await page.send("https://api.example/comments", { method: "POST", body: "hello" });
    page.dispose(); // the page goes

    const next = createOutbox(createFetch({ fetch: server }), { storage });
    await clock.advance(300_000);
    assert.equal(next.getSnapshot().count, 0);
    const keys = server.requests.map(({ headers }) => headers.get("Idempotency-Key"));
    assert.equal(new Set(keys).size, 1);
    next.dispose();
  } finally {
    clock.restore();
  }
});
