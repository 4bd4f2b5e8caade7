import { createFetch } from "steadfetch";

const fetch = createFetch();

addEventListener("pagehide", () => {
  const sent = fetch("/left", {
    method: "POST",
    body: JSON.stringify({ at: Date.now() }),
    keepalive: true,
    retry: false,
    breaker: false,
    onOffline: "ignore",
  });
  sent.catch(() => {}); // nobody is left to be told
});
