// What the cases share besides the page: clients to begin with, and what becomes of their calls.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { createFetch, isCircuitOpenError, isTimeoutError } from "../../pkg/dist/index.js";
import { answer, B0, D0, over, URL_ } from "./cases.mjs";

/** The circuit of URL_. */
export const KEY = "https://a.test";

export const listeners = (target, type = "abort") => getEventListeners(target, type).length;

/** D0 for one call, with a reason to abort it. */
export function abortable(page, options = {}) {
  const controller = page.controller();
  const reason = { why: "navigation" };
  return { controller, reason, signal: controller.signal, client: createFetch(over(D0, options)) };
}

/** It rejected at that time with this very value. */
export function rejected(seen, at, error) {
  assert.deepEqual([seen.rejected, seen.at], [true, at]);
  assert.ok(Object.is(seen.error, error), `it rejected with ${String(seen.error)}`);
}

export function timedOut(seen, at, scope) {
  assert.deepEqual([seen.rejected, seen.at], [true, at]);
  assert.ok(isTimeoutError(seen.error), `it rejected with ${String(seen.error)}`);
  assert.equal(seen.error.scope, scope);
}

export function resolved(seen, at, status) {
  assert.deepEqual([seen.rejected, seen.at, seen.value?.status], [undefined, at, status]);
}

export const refused = (seen) => seen.rejected === true && isCircuitOpenError(seen.error);

/** An answer that says when to come back. */
export const hinted = (status, value, more = {}) => answer(status, { headers: { "Retry-After": value, ...more } });

/** Notes the waits of a call, as its states tell them. */
export const waits = (into) => (state) => state.status === "waiting" && into.push(state.delay);

/** A client whose circuit opened at t=0, and who counts what the circuit does. */
export async function tripped(page, options = {}) {
  const client = createFetch(over(B0, options));
  const changes = [];
  client.addEventListener("circuit", ({ detail }) => {
    if (detail.status !== changes.at(-1)?.[1]) changes.push([page.t, detail.status]);
  });
  page.script(503);
  for (let i = 0; i < 3; i++) await client(URL_);
  page.script(200);
  return { client, changes, circuit: () => client.circuits.get(KEY) };
}
