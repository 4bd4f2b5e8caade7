// The platform's fetch, also where a page has put a client of ours in its place.

type Fetch = typeof globalThis.fetch;

/** What each client stands for: the fetch that was global when it was made. */
const clients = new WeakMap<object, Fetch | undefined>();

/** The global fetch of this moment (mocks come and go), but never one of our own clients: it would call itself. */
export function platformFetch(): Fetch {
  const current = globalThis.fetch;
  const known = clients.has(current) ? clients.get(current) : current;
  if (known) return known;
  throw new TypeError(
    "steadfetch: there is no fetch under this client; make it with createFetch() before it replaces fetch",
  );
}

/** Tells what `client` stands for; undefined until it is known. */
export function standsFor(client: object, fetch: Fetch | undefined): void {
  if (!clients.get(client)) clients.set(client, fetch);
}
