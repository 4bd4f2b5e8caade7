import fetchRetry from "fetch-retry";
import { createFetch } from "steadfetch";

const old = fetchRetry(fetch, { retries: 3, retryDelay: 100, retryOn: [429, 503] });
export const before = async (url) => (await old(url)).json();

const client = createFetch({
  retry: { limit: 3, delay: 100, factor: 1, jitter: "none", statusCodes: [429, 503] },
});
export const after = async (url) => (await client(url)).json();
