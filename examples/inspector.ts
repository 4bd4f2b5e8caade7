import { createFetch } from "steadfetch";

export const client = createFetch({ trace: true });

if (new URLSearchParams(location.search).has("inspect")) {
  const { inspect } = await import("steadfetch/devtools");
  inspect(client);
}
