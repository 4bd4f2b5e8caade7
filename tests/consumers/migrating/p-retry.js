import pRetry, { AbortError } from "p-retry";
import { createFetch } from "steadfetch";

export const before = (url) =>
  pRetry(
    async () => {
      const response = await fetch(url);
      if (response.status === 404) throw new AbortError("There is no such report");
      if (!response.ok) throw new Error(`The server answered ${response.status}`);
      return response.json();
    },
    { retries: 3, minTimeout: 100, maxTimeout: 2_000 },
  );

const client = createFetch({
  retry: { limit: 3, delay: 100, backoffLimit: 2_000, jitter: "none" },
  throwHttpErrors: true,
});
export const after = async (url) => (await client(url)).json();
