import { createFetch } from "steadfetch";

let token = "old";

const fetch = createFetch({
  retry: {
    shouldRetry: async ({ response }) => {
      if (response?.status !== 401) return undefined; // decide as usual
      token = await newToken();
      return true;
    },
    beforeRetry: ({ request }) => request.headers.set("Authorization", token),
  },
});

const response = await fetch("/account", { headers: { Authorization: token } });
console.log(response.status);

// With the platform's fetch: a 401 for this one must not ask for a token again.
async function newToken(): Promise<string> {
  const response = await globalThis.fetch("/token");
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return response.text();
}
