// A tab, which is a frame: outboxes with their own lock, channel and connection to the database. Whoever made the frame
// left on its element what to do.
import { createFetch } from "/points/index.js";
import { createOutbox, indexedDBStorage } from "/points/outbox.js";

const life = frameElement.begin();
globalThis.steadfetchPoint = life.at;
if (life.locks === false) Object.defineProperty(navigator, "locks", { value: undefined });

const { name } = life;
const client = createFetch({ retry: { delay: 20, backoffLimit: 100 }, budget: false, breaker: false });
const storage = indexedDBStorage(name);
const open = () =>
  createOutbox(client, {
    name,
    queueKey: ({ url }) => new URL(url).searchParams.get("queue"),
    prepare: (request) => request.headers.set("Authorization", "secret"),
    ...(life.careless && { storage: forgetful(storage) }),
  });

// Before anything of it is sent.
await life.before?.(storage);
const outbox = open();
life.ready({
  outbox,
  open,
  list: () => storage.list(),
  send({ entry, queue, size = 0, kind }, to = outbox) {
    const text = JSON.stringify({ entry, filling: "x".repeat(size) });
    const body = kind === "blob" ? new Blob([text]) : text;
    return to.send(`/write?queue=${queue}`, { method: "POST", body, meta: entry });
  },
});

/** What nobody should write: an entry goes before there is an answer. It shows that losses are seen. */
function forgetful(storage) {
  const head = storage.head.bind(storage);
  storage.head = async (...which) => {
    const found = await head(...which);
    if (found.record) await storage.remove(found.record.id);
    return found;
  };
  return storage;
}
