import { createFetch } from "steadfetch";
import { script } from "steadfetch/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a Retry-After is waited for", async () => {
  const server = script([{ status: 503, retryAfter: 20 }, 200]);
  const call = createFetch({ fetch: server }).start("https://api.example/report.json");
  await vi.advanceTimersByTimeAsync(19_999);
  expect(call.state.status).toBe("waiting");
  await vi.advanceTimersByTimeAsync(2_001); // a tenth more at most
  expect(call.state.status).toBe("success");
  expect(server.requests).toHaveLength(2);
});
