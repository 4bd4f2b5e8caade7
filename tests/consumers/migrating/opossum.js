import CircuitBreaker from "opossum";
import { createFetch } from "steadfetch";

async function report(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The server answered ${response.status}`);
  return response.json();
}
export const old = new CircuitBreaker(report, {
  timeout: 5_000,
  errorThresholdPercentage: 50,
  volumeThreshold: 5,
  resetTimeout: 10_000,
});
export const before = (url) => old.fire(url);

const client = createFetch({
  retry: false,
  timeout: 5_000,
  breaker: { consecutiveFailures: 0, failureRate: 0.5, minimumCalls: 5, halfOpenAfter: 10_000 },
  throwHttpErrors: true,
});
export const after = async (url) => (await client(url)).json();
