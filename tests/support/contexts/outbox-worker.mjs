// A service worker that delivers what tabs left behind, and tells them how that went.
import { createFetch } from "steadfetch";
import { drainOnSync } from "steadfetch/outbox/sw";

const client = createFetch({ retry: { delay: 20, jitter: "none" }, breaker: false, budget: false });
drainOnSync(client);
drainOnSync(client, { name: "other" });

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
/** Where the browser has no Background Sync, the tests send what it would. */
addEventListener("message", ({ data: { tag, lastChance }, ports: [port] }) => {
  const event = Object.assign(new Event("sync"), { tag, lastChance });
  let work;
  event.waitUntil = (promise) => {
    work = promise;
  };
  dispatchEvent(event);
  Promise.resolve(work).then(
    () => port.postMessage(work ? "done" : "not asked"),
    ({ message }) => port.postMessage(message),
  );
});
