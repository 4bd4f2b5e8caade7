// What a successful call of each peer makes the platform do, see counting.mjs.

import { peers } from "../peers.mjs";
import { countOf } from "./counting.mjs";

const CALLS = 100;

/** @returns {Promise<Record<string, Record<string, number>>>}  how often for one call, by peer and by what */
export async function costs() {
  const answer = new Response("ok");
  const found = {};
  for (const [name, { make }] of Object.entries(peers)) {
    const call = make(() => Promise.resolve(answer));
    const some = async () => {
      for (let i = 0; i < CALLS; i++) await call("http://127.0.0.1/");
    };
    await some();
    const counts = await countOf(some);
    found[name] = Object.fromEntries(Object.entries(counts).map(([what, times]) => [what, times / CALLS]));
  }
  return found;
}
