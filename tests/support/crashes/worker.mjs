// A service worker that delivers what tabs left behind; by "?at=" it hangs at a point, for somebody to stop it there.
import { createFetch } from "/points/index.js";
import { drainOnSync } from "/points/outbox-sw.js";

const fatal = new URL(location.href).searchParams.get("at");
globalThis.steadfetchPoint = (name) => {
  fetch(`/passed?${name}`);
  if (name !== fatal) return;
  fetch(`/reached?${name}`);
  for (;;);
};
addEventListener("install", () => skipWaiting());
const client = createFetch({ retry: { delay: 20, backoffLimit: 100 }, budget: false, breaker: false });
drainOnSync(client, { name: "worker", prepare: (request) => request.headers.set("Authorization", "secret") });
