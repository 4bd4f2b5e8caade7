import { createFetch } from "steadfetch";

/** One call with what it went through, on a server: `loading 1, waiting 1, loading 2, success 2: hello`. */
export async function told(url, init) {
  const states = [];
  const call = createFetch({ retry: { delay: 20, jitter: "none" } }).start(url, {
    ...init,
    onState: ({ status, attempt }) => states.push(`${status} ${attempt}`),
  });
  const response = await call;
  return `${states.join(", ")}: ${await response.text()}`;
}
