// The subject and its peers: each makes of a `fetch` one that retries three times, and has a circuit breaker where the
// library has one. What else a library does by default, such as a limit of time, it does here too. With `wait` a retry
// comes so many milliseconds after a failure; without, when the library thinks fit.
import { QueryClient } from "@tanstack/query-core";
import {
  ConsecutiveBreaker,
  ConstantBackoff,
  circuitBreaker,
  ExponentialBackoff,
  handleAll,
  retry as retryPolicy,
  wrap,
} from "cockatiel";
import fetchRetry from "fetch-retry";
import kyDefault from "ky";
import { createFetch as createOfetch } from "ofetch";
import CircuitBreaker from "opossum";
import pRetry from "p-retry";
import { createFetch } from "steadfetch";
import { isFailure, loop, RETRIED, RETRIES } from "./lib/loop.mjs";

/** As ours by default. */
const FAILURES = 5;
const OPEN_MS = 30_000;

/** For what knows of errors only. */
async function answer(promise) {
  const response = await promise;
  if (isFailure(response)) throw new Error(`the server answered ${response.status}`);
  return response;
}

export function native(fetch) {
  return (url, init) => fetch(url, init);
}

export function steadfetch(fetch, { wait } = {}) {
  return createFetch({ fetch, retry: { limit: RETRIES, ...steady(wait) } });
}

/** The same without a circuit and without a budget of retries. */
export function steadfetchPlain(fetch, { wait } = {}) {
  return createFetch({ fetch, retry: { limit: RETRIES, ...steady(wait) }, breaker: false, budget: false });
}

const steady = (wait) =>
  wait === undefined ? {} : { delay: wait, backoffLimit: Math.max(wait, 1), factor: 1, jitter: "none" };

export function ky(fetch, { wait } = {}) {
  return kyDefault.create({ fetch, retry: { limit: RETRIES, ...(wait !== undefined && { delay: () => wait }) } });
}

/** Both policies; a status that is a failure counts as one. */
export function cockatiel(fetch, { wait } = {}) {
  const failures = handleAll.orWhenResult(isFailure);
  const backoff = wait === undefined ? new ExponentialBackoff() : new ConstantBackoff(wait);
  const policy = wrap(
    retryPolicy(failures, { maxAttempts: RETRIES, backoff }),
    circuitBreaker(failures, { halfOpenAfter: OPEN_MS, breaker: new ConsecutiveBreaker(FAILURES) }),
  );
  return (url, init) => policy.execute(() => fetch(url, init), init?.signal ?? undefined);
}

/** It does not retry: its circuit is within the loop written by hand. One failure alone would open it by default. */
export function opossum(fetch, { wait } = {}) {
  const breaker = new CircuitBreaker((url, init) => answer(fetch(url, init)), { volumeThreshold: FAILURES });
  return loop((url, init) => breaker.fire(url, init), { wait });
}

function pRetryPeer(fetch, { wait } = {}) {
  const waits = wait === undefined ? {} : { minTimeout: wait, maxTimeout: wait, factor: 1 };
  return (url, init) => pRetry(() => answer(fetch(url, init)), { retries: RETRIES, signal: init?.signal, ...waits });
}

function fetchRetryPeer(fetch, { wait } = {}) {
  return fetchRetry(fetch, { retries: RETRIES, retryOn: RETRIED, ...(wait !== undefined && { retryDelay: wait }) });
}

/** The body is left to the caller, as the others do; by default it would be read and parsed. */
export function ofetch(fetch, { wait } = {}) {
  const client = createOfetch({ fetch });
  return (url, init) => client.raw(url, { retry: RETRIES, retryDelay: wait ?? 0, responseType: "stream", ...init });
}

/** What it caches is stale at once, so that each call sends a request. */
export function queryCore(fetch, { wait } = {}) {
  const client = new QueryClient({
    defaultOptions: { queries: { retry: RETRIES, ...(wait !== undefined && { retryDelay: wait }) } },
  });
  return (url, init) =>
    client.fetchQuery({ queryKey: [url], queryFn: ({ signal }) => answer(fetch(url, { signal, ...init })) });
}

/** Each by the name that the results give it, `native` first, with whether it has a circuit breaker. */
export const peers = {
  native: { make: native, breaker: false },
  steadfetch: { make: steadfetch, breaker: true },
  "steadfetch, no breaker": { make: steadfetchPlain, breaker: false },
  loop: { make: loop, breaker: false },
  cockatiel: { make: cockatiel, breaker: true },
  opossum: { make: opossum, breaker: true },
  ky: { make: ky, breaker: false },
  "p-retry": { make: pRetryPeer, breaker: false },
  "fetch-retry": { make: fetchRetryPeer, breaker: false },
  ofetch: { make: ofetch, breaker: false },
  "query-core": { make: queryCore, breaker: false },
};
