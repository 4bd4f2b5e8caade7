// The first call of a client, or with `ready` after it was said that there will be one.
import { times } from "./start-clock.mjs";

globalThis.fetch = async () => {
  times.sent ??= performance.now();
  return new Response(null);
};

/** @param {() => (url: string) => Promise<Response>} make */
export async function call(make, ready = false) {
  const client = make();
  if (ready) {
    const asked = performance.now();
    const promise = client.ready();
    times.blocked = performance.now() - asked;
    await promise;
    times.ready = performance.now();
    // The call comes later, in a turn of its own.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  times.called = performance.now();
  await client("http://127.0.0.1/");
}
