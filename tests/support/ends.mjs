// The ends of a call, each with an answer and without one, for the table of docs/guide/states.md.

import { createFetch } from "steadfetch";
import { script } from "steadfetch/testing";

const URL_ = "https://api.example/report.json";
const ONCE = { retry: { limit: 1, delay: 1 } };
const POST = { method: "POST", body: "x" };
const stream = () => ({ method: "PUT", body: new Blob(["x"]).stream(), duplex: "half" });
const throws = () => {
  throw new Error("mine");
};
const veto = { retry: { shouldRetry: () => false } };
const full = { ...ONCE, budget: { capacity: 1 } };
const slow = { retry: { delay: 60_000, jitter: "none" }, totalTimeout: 1_000 };

/** By state, reason and whether there was an answer: what the server does, and the options of the client and of the call. */
export const ENDS = [
  ["success", "", true, [200]],
  ["failed", "status", true, [404]],
  ["failed", "not-idempotent", true, [503], {}, POST],
  ["failed", "not-idempotent", false, ["drop"], {}, POST],
  ["failed", "body-not-replayable", true, [503], {}, stream],
  ["failed", "body-not-replayable", false, ["drop"], {}, stream],
  ["failed", "vetoed", true, [503], veto],
  ["failed", "vetoed", false, ["drop"], veto],
  ["failed", "vetoed", false, ["stall"], { timeout: 20, retry: { retryOnTimeout: false } }],
  ["failed", "offline", false, [200], { onOffline: "reject" }, {}, offline],
  ["failed", "invalid-request", false, [200], {}, { method: "no method" }],
  ["failed", "invalid-request", false, [200], {}, { retry: { limit: -1 } }],
  ["failed", "callback-threw", true, [503], { retry: { shouldRetry: throws } }],
  ["failed", "callback-threw", false, ["drop"], { retry: { shouldRetry: throws } }],
  ["exhausted", "limit", true, [503], ONCE],
  ["exhausted", "limit", false, ["drop"], ONCE],
  ["exhausted", "limit", false, ["stall"], { ...ONCE, timeout: 20 }],
  ["exhausted", "budget", true, [503], full],
  ["exhausted", "budget", false, ["drop"], full],
  ["exhausted", "budget", false, ["stall"], { ...full, timeout: 20 }],
  ["exhausted", "total-timeout", true, [503], slow],
  ["exhausted", "total-timeout", false, ["drop"], slow],
  ["exhausted", "total-timeout", false, ["stall"], { totalTimeout: 20 }],
  ["exhausted", "retry-after-too-long", true, [{ status: 503, retryAfter: 600 }]],
  ["exhausted", "retry-after-too-long", false, [{ status: 503, retryAfter: 600 }], {}, {}, another],
  ["circuit-open", "", true, [503], { retry: { delay: 1 }, breaker: { consecutiveFailures: 1 } }],
  ["circuit-open", "", false, [503], { breaker: { consecutiveFailures: 1 } }, {}, another],
  ["cancelled", "", true, [503], {}, {}, cancelWaiting],
  ["cancelled", "", false, ["stall"], {}, {}, cancelLoading],
];

/** Ends a call so, and says how: `resolves`, or the name of the error; `more` options are for the client. */
export async function end([, , , steps, options, init, act = (_client, call) => call()], more) {
  const client = createFetch({ ...options, ...more, fetch: script(steps) });
  let call;
  await act(client, () => {
    call = client.start(URL_, typeof init === "function" ? init() : init);
    return call.response.catch(() => {});
  });
  const outcome = await call.response.then(
    () => "resolves",
    (error) => error.name ?? error,
  );
  const { status, reason } = call.state;
  client.dispose();
  return { status, reason: status === "cancelled" ? "" : (reason ?? ""), outcome };
}

async function offline(_client, call) {
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { onLine: false } });
  try {
    await call();
  } finally {
    delete globalThis.navigator;
  }
}

/** After one that makes the server say no. */
async function another(client, call) {
  await client(URL_, { retry: false }).catch(() => {});
  await call();
}

async function cancelLoading(client, call) {
  const over = call();
  for (const each of client.calls()) each.cancel("enough");
  await over;
}

async function cancelWaiting(client, call) {
  client.addEventListener("waiting", ({ detail }) => detail.call.cancel("enough"));
  await call();
}
