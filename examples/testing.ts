import { createFetch } from "steadfetch";
import { callTrace, script, virtualClock } from "steadfetch/testing";

/** For a test of any runner: what is told of an outage, and what was sent meanwhile. */
export async function outage() {
  const clock = virtualClock();
  try {
    const server = script([503, { status: 429, retryAfter: 2 }, "drop", { body: "hello" }]);
    const fetch = createFetch({ fetch: server, retry: { jitter: "none" } });
    const trace = callTrace(fetch.start("https://api.example/report.json"));
    await clock.advance(60_000);
    return { told: trace.text, sent: server.requests.length };
    // told: "loading > waiting 250 > loading > waiting 2000 > loading > waiting 1000 > loading > success"
  } finally {
    clock.restore();
  }
}
