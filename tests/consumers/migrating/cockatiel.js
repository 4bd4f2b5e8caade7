import { ConsecutiveBreaker, circuitBreaker, ExponentialBackoff, handleAll, retry, wrap } from "cockatiel";
import { createFetch } from "steadfetch";

const policy = wrap(
  retry(handleAll, { maxAttempts: 3, backoff: new ExponentialBackoff({ initialDelay: 100, maxDelay: 2_000 }) }),
  circuitBreaker(handleAll, { halfOpenAfter: 10_000, breaker: new ConsecutiveBreaker(5) }),
);
export const before = (url) =>
  policy.execute(async () => {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    return response.json();
  });

const client = createFetch({
  retry: { limit: 3, delay: 100, backoffLimit: 2_000, jitter: "decorrelated" },
  breaker: { consecutiveFailures: 5, halfOpenAfter: 10_000 },
  throwHttpErrors: true,
});
export const after = async (url) => (await client(url)).json();
