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

async function newToken(): Promise<string> {
  return (await fetch("/token")).text();
}
