import { createFetch } from "steadfetch";

const api = "https://api.example";
const plain = globalThis.fetch; // the platform's own, before a client may take its place
let token = "Bearer old";
let renewal: Promise<boolean> | undefined;

/** The token goes to our own server only, and only with calls that had one. */
const carriesToken = (request: Request) => new URL(request.url).origin === api && request.headers.has("Authorization");

const fetch = createFetch({
  retry: {
    shouldRetry: async ({ attempt, request, response }) => {
      if (response?.status !== 401 || attempt > 1 || !carriesToken(request)) return undefined; // decide as usual
      if (request.headers.get("Authorization") !== token) return true; // another call has renewed it meanwhile
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      return (await renewal) || undefined;
    },
    beforeRetry: ({ request }) => {
      if (carriesToken(request)) request.headers.set("Authorization", token);
    },
  },
});

/** Whether there is a new token. */
async function renew(): Promise<boolean> {
  try {
    const response = await plain(`${api}/token`, { method: "POST", signal: AbortSignal.timeout(10_000) });
    if (response.ok) token = `Bearer ${await response.text()}`;
    return response.ok;
  } catch {
    return false;
  }
}

const response = await fetch(`${api}/account`, { headers: { Authorization: token } });
console.log(response.status);
