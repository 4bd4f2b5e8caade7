import { createFetch } from "steadfetch";

const fetch = createFetch({
  retry: { limit: 3, delay: 400, backoffLimit: 20_000, jitter: "equal" },
  timeout: 10_000,
  breaker: { consecutiveFailures: 5, halfOpenAfter: 30_000 },
});

// The same circuits, other options.
const patient = fetch.extend({ retry: { limit: 10 }, onCircuitOpen: "wait" });

await patient("/report.json", { timeout: 60_000 }); // options of one call win
