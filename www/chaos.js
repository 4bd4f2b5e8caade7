// The chaos server: from a request to an answer, with the fault that the visitor chose.
// The service worker runs it (chaos-sw.js); where there is none, the page does (server.js).
//
//   PUT api/plan?server=ID             what the server does from now on, a JSON plan; GET is what it is
//   GET api/report?server=ID&load=N    the report, or a fault
//   POST api/comments?server=ID&load=N takes a comment, each Idempotency-Key once, or meets a fault; GET is what it has taken
//
// A plan is { fault, times, retryAfter, offline }: `fault` is one of the names below, the first `times`
// requests of each load meet it (null: all of them). Nothing is left to chance. A comment whose connection drops was taken:
// it is the answer that is lost.

const ANSWER_AFTER = 500;
const SLOW_AFTER = 4_000;
const STALL_ENDS_AFTER = 60_000;

const STATUS_TEXT = {
  404: "Not Found",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
/** What it says besides. */
const WORDS = { 422: "Comments of this kind are not wanted here." };
/** So many comments are kept. */
const MOST = 50;
const HEALTHY = { fault: "none", times: null, retryAfter: 0, offline: false };

const REPORT = {
  title: "Parcels delivered this week",
  rows: [
    ["Monday", 128],
    ["Tuesday", 164],
    ["Wednesday", 97],
    ["Thursday", 181],
    ["Friday", 143],
  ],
};

/** `memory` has get(key) and set(key, value), which may be asynchronous. Rejects when `signal` aborts. */
export async function serve(request, memory, signal = request.signal) {
  const { pathname, searchParams } = new URL(request.url);
  const server = searchParams.get("server");
  if (request.method === "PUT") {
    await memory.set(server, { plan: await request.json() });
    return new Response(null, { status: 204 });
  }
  if (pathname.endsWith("/plan")) return Response.json((await memory.get(server))?.plan ?? HEALTHY);
  const comments = pathname.endsWith("/comments");
  if (comments && request.method === "GET") return Response.json(await taken(server, memory));

  const { plan = HEALTHY, load, served = 0 } = (await memory.get(server)) ?? {};
  const nth = load === searchParams.get("load") ? served + 1 : 1;
  await memory.set(server, { plan, load: searchParams.get("load"), served: nth });

  if (plan.offline) return Response.error();
  const fault = plan.times === null || nth <= plan.times ? plan.fault : "none";
  const comment = comments && (await request.text());
  await pause(delayOf(fault), signal);
  if (!comments || fault >= 400) return answer(fault, plan);
  const kept = await take(server, request.headers.get("Idempotency-Key"), comment, memory);
  return fault === "drop" ? Response.error() : Response.json(kept, { status: 201 });
}

const listOf = (server) => `${server} comments`;
const taken = async (server, memory) => (await memory.get(listOf(server))) ?? [];

/** As a server that honours the key: a comment that it has already is not taken again. */
async function take(server, key, text, memory) {
  const all = await taken(server, memory);
  let kept = all.find((comment) => comment.key === key);
  if (!kept) all.push((kept = { key, text, requests: 0 }));
  kept.requests++;
  await memory.set(listOf(server), all.slice(-MOST));
  return kept;
}

function delayOf(fault) {
  if (fault === "slow") return SLOW_AFTER;
  if (fault === "stall") return STALL_ENDS_AFTER;
  return ANSWER_AFTER;
}

function answer(fault, plan) {
  if (fault === "none" || fault === "slow") return Response.json(REPORT);
  if (fault === "drop" || fault === "stall") return Response.error();
  const headers = plan.retryAfter > 0 ? { "Retry-After": String(plan.retryAfter) } : {};
  const status = Number(fault);
  return Response.json(
    { title: WORDS[status] ?? STATUS_TEXT[status] },
    { status, statusText: STATUS_TEXT[status], headers },
  );
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
