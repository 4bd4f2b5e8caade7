import { createFetch } from "steadfetch";

export const fetch = createFetch({
  onCircuitOpen: "wait",
  totalTimeout: 120_000, // milliseconds: an end to all that waiting
  retry: { delay: 2000, jitter: "equal" },
});
