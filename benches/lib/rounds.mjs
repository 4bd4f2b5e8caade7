// Times calls that succeed, of each peer in turn. Runs in a page or in Node, and knows neither. In each round every peer
// has its turn, in an order of chance, so that what slows the machine down slows all of them down.
import { native, peers } from "../peers.mjs";

/** Always the same response, which nobody reads: making one would take as long as some peers do. */
const answer = new Response("ok");
const stub = () => Promise.resolve(answer);
/** So many calls between looks at the clock. */
const SOME = 50;
/** Native once more tells how much of a difference is chance; the other what it takes at least to end a call. */
const subjects = Object.entries({
  ...peers,
  "native, cancellable": { make: cancellable },
  "native, again": { make: native },
});

function cancellable(fetch) {
  return (url) => fetch(new Request(url, { signal: new AbortController().signal }));
}

/**
 * Over a fetch that answers at once. A turn takes about `ms`, much more than the clock's grain; before it counts, each
 * peer runs for `warm` ms.
 *
 * @param {{ url: string, rounds: number, ms: number, warm: number }} how
 * @returns {Promise<Record<string, number[]>>}  microseconds per call, by peer and round
 */
export async function overStub({ url, rounds, ms, warm }) {
  const contenders = [];
  for (const [name, { make }] of subjects) {
    const call = make(stub);
    const turn = (calls) => time(call, url, calls);
    let calls = 0;
    for (const end = performance.now() + warm; performance.now() < end; calls += SOME) await turn(SOME);
    contenders.push({ name, turn, calls: Math.ceil((calls / warm) * ms), times: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { turn, calls, times } of shuffled(contenders)) times.push(await turn(calls));
  }
  return Object.fromEntries(contenders.map(({ name, times }) => [name, times.map(rounded)]));
}

async function time(call, url, calls) {
  const began = performance.now();
  for (let i = 0; i < calls; i++) await call(url);
  return ((performance.now() - began) * 1_000) / calls;
}

/**
 * Over a server, with the body read, which would else keep the connection. A turn is one call, for a call takes long
 * enough to be timed, and the median is blind to those that the machine held up.
 *
 * @param {{ url: string, blocks: number, rounds: number }} how  so many rounds in each block; one block before counts not
 * @returns {Promise<Record<string, number[]>>}  microseconds per call, by peer the median of each block
 */
export async function overServer({ url, blocks, rounds }) {
  const contenders = subjects.map(([name, { make }]) => ({
    name,
    call: make((input, init) => fetch(input, init)),
    medians: [],
  }));
  for (let block = 0; block <= blocks; block++) {
    const times = new Map(contenders.map((each) => [each, []]));
    for (let round = 0; round < rounds; round++) {
      for (const each of shuffled(contenders)) {
        const began = performance.now();
        await (await each.call(url)).text();
        times.get(each).push((performance.now() - began) * 1_000);
      }
    }
    if (block > 0) for (const [{ medians }, all] of times) medians.push(rounded(median(all)));
  }
  return Object.fromEntries(contenders.map(({ name, medians }) => [name, medians]));
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const rounded = (value) => Math.round(value * 1_000) / 1_000;

function shuffled(list) {
  const keys = new Map(list.map((each) => [each, Math.random()]));
  return list.toSorted((a, b) => keys.get(a) - keys.get(b));
}
