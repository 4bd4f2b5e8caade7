// The platform's fetch, also where a page has put a client of ours in its place.

type Fetch = typeof globalThis.fetch;

/** What each client stands for: the fetch that was global when it was made. */
const clients = new WeakMap<object, Fetch | undefined>();
/** The same on the client itself, for another copy of this package. */
const brand = "@@steadfetch";

/** Requests that are out by the global fetch. One that comes back to a client was sent on by a wrapper of the page's. */
export const out = new WeakSet<object>();
/** Whoever sends just now. A wrapper may make another request of the one it is given, and calls back before it returns. */
let sender: object | undefined;

export function sendBy<T>(owner: object, send: () => T): T {
  const before = sender;
  sender = owner;
  try {
    return send();
  } finally {
    sender = before;
  }
}

/** Whether a client is called by what it sends, and not by the page. */
export const isOwn = (owner: object, input: unknown): boolean => sender === owner || out.has(input as object);

/** The monotonic clock, in ms. */
export const mono = (): number => globalThis.performance?.now?.() ?? Date.now();

/** The global fetch of this moment (mocks come and go), but never a client of ours: it would call itself. */
export function platformFetch(): Fetch {
  const current = globalThis.fetch;
  const branded = (current as { [brand]?: Fetch } | undefined)?.[brand] ?? current;
  return known(clients.has(current) ? clients.get(current) : branded);
}

function known(fetch: Fetch | undefined): Fetch {
  if (fetch) return fetch;
  throw new TypeError(
    "steadfetch: there is no fetch under this client; make it with createFetch() before it replaces fetch",
  );
}

/** Tells what `client` stands for; undefined until it is known. */
export function standsFor(client: object, fetch: Fetch | undefined): void {
  if (clients.get(client)) return;
  clients.set(client, fetch);
  if (fetch) Object.defineProperty(client, brand, { value: fetch });
}

export const fetchUnder = (client: object): Fetch => known(clients.get(client));
