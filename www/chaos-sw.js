// The chaos server as a service worker. It touches requests under ./api/ and no others.
import { serve } from "./chaos.js";

const API = new URL("./api/", self.registration.scope).href;
const CACHE = `chaos ${self.registration.scope}`;

// Browsers stop an idle worker within a minute, so what the server knows is kept in a cache.
const memory = {
  async get(key) {
    const kept = await (await caches.open(CACHE)).match(new URL(key, API));
    return kept?.json();
  },
  async set(key, value) {
    await (await caches.open(CACHE)).put(new URL(key, API), Response.json(value));
  },
};

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) =>
  event.waitUntil(Promise.all([caches.delete(CACHE), self.clients.claim()])),
);

// A page that was reloaded past its worker asks to be taken in again.
self.addEventListener("message", (event) => {
  if (event.data === "claim") event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  if (event.request.url.startsWith(API)) event.respondWith(serve(event.request, memory));
});
