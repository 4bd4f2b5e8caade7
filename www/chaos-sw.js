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

const running = new Map(); // from a request's id to its AbortController

self.addEventListener("fetch", (event) => {
  if (event.request.url.startsWith(API)) event.respondWith(answer(event.request));
});

async function answer(request) {
  const id = request.headers.get("Request-Id");
  const controller = new AbortController();
  running.set(id, controller);
  request.signal.addEventListener("abort", () => controller.abort());
  try {
    return await serve(request, memory, controller.signal);
  } catch {
    return Response.error();
  } finally {
    running.delete(id);
  }
}

self.addEventListener("message", (event) => {
  if (event.data.abort) running.get(event.data.abort)?.abort();
  if (event.data.claim) event.waitUntil(self.clients.claim()); // a page that was reloaded past its worker
});
