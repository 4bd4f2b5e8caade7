// What the small apps load from: the chaos server of the demo inside the page, or the server that `?api=` names.
import { serve } from "../../chaos.js";

const api = new URLSearchParams(globalThis.location?.search).get("api");
const memory = new Map();

async function chaosFetch(input, init) {
  const request = new Request(input, init);
  const { fault } = Object.fromEntries(new FormData(document.getElementById("server")));
  const { searchParams } = new URL(request.url);
  const load = searchParams.get("load");
  const before = memory.get("app");
  const retryAfter = fault === "429" ? 3 : 0;
  // A load keeps to what was chosen when it began.
  if (before?.load !== load) memory.set("app", { plan: { fault, times: 2, retryAfter, offline: false } });
  const response = await serve(request, memory);
  if (response.type === "error") throw new TypeError("Failed to fetch");
  return response;
}

/** Options of the client that reaches it. */
export const options = {
  ...(api ? {} : { fetch: chaosFetch }),
  retry: { delay: 2_000, jitter: "none" },
  timeout: 5_000,
  budget: false,
};

/** The entries are in the browser, for the apps of all frameworks. */
export const outboxOptions = { name: "small-apps" };

export const reportUrl = (load) => (api ? `${api}?load=${load}` : `https://api.example/report?server=app&load=${load}`);

let comments = 0;

/** Posts a comment, which is stored first. */
export function postComment(outbox) {
  const n = ++comments;
  const url = api ? `${api}/comments` : `https://api.example/comments?server=app&load=comment-${n}`;
  return outbox.send(url, { method: "POST", body: `Comment ${n}`, meta: `Comment ${n}` });
}
