// A service worker that answers its pages through a client, be it a document that they ask for.
import * as steadfetch from "steadfetch";
import { exercise } from "./exercise.mjs";

const client = steadfetch.createFetch({ retry: { delay: 20, jitter: "none" } });

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  if (new URL(event.request.url).pathname.startsWith("/through/")) event.respondWith(client(event.request));
});
addEventListener("message", (event) => {
  const told = exercise(steadfetch, event.data).catch(String);
  event.waitUntil(told.then((result) => event.source.postMessage(result)));
});
