// The page's end of the chaos server: the service worker where there is one, else a stand-in for fetch.
import { serve } from "./chaos.js";

const SCRIPT = new URL("./chaos-sw.js", import.meta.url).href;
const server = crypto.getRandomValues(new Uint32Array(1))[0].toString(36); // tabs do not share their faults
const memory = new Map();

// Not every browser tells a worker that the page gave a request up, so the page does.
function throughWorker(input, init) {
  const request = new Request(input, init);
  const id = crypto.randomUUID();
  request.headers.set("Request-Id", id);
  request.signal.addEventListener("abort", () => navigator.serviceWorker.controller?.postMessage({ abort: id }));
  return fetch(request);
}

async function standIn(input, init) {
  const response = await serve(new Request(input, init), memory);
  if (response.type === "error") throw new TypeError("Failed to fetch");
  return response;
}

const workerControls = () => navigator.serviceWorker?.controller?.scriptURL === SCRIPT;

/** The fetch that reaches the chaos server right now. */
export const serverFetch = () => (workerControls() ? throughWorker : standIn);

const address = (path) => new URL(path, import.meta.url).href;

export const reportUrl = (load) => address(`./api/report?server=${server}&load=${load}`);

/** Of one server for all tabs: any of them may send what was posted in another. */
export const commentsUrl = address("./api/comments?server=outbox");

export const setPlan = (plan) => putPlan(plan, server);
export const setSharedPlan = (plan) => putPlan(plan, "outbox");

async function putPlan(plan, server) {
  await serverFetch()(address(`./api/plan?server=${server}`), { method: "PUT", body: JSON.stringify(plan) });
}

/** Starts the worker. `onChange` hears "starting", then "worker" or "stand-in". */
export async function startServer(onChange) {
  if (workerControls()) return onChange("worker");
  if (!navigator.serviceWorker) return onChange("stand-in");
  onChange("starting");
  navigator.serviceWorker.addEventListener("controllerchange", () =>
    onChange(workerControls() ? "worker" : "stand-in"),
  );
  try {
    const registration = await navigator.serviceWorker.register(SCRIPT, {
      type: "module",
      scope: address("./"),
    });
    registration.active?.postMessage({ claim: true });
  } catch {
    onChange("stand-in");
  }
}
