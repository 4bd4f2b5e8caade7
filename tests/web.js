// What tests/web.rs needs of the page.
const fail = [
  "status",
  "not-idempotent",
  "body-not-replayable",
  "vetoed",
  "invalid-request",
  "callback-threw",
  "offline",
];
const exhausted = ["limit", "total-timeout", "retry-after-too-long", "budget"];

class TimeoutError extends Error {
  name = "TimeoutError";
}

export function makeHost() {
  let timer;
  return {
    arm_(ms) {
      clearTimeout(timer);
      if (ms >= 0) timer = setTimeout(() => this.rang(), ms);
    },
    mono_: () => performance.now(),
    page_: () => 3,
    listen_() {},
    timeout_: () => new TimeoutError(),
    discard_: (response) => void response.body?.cancel(),
    outcome_: (answered, value) => ({ answered, value }),
    changed_() {},
    circuit_: (...fields) => fields,
    snapshot_: (...fields) => fields,
  };
}

export function bindHost(host, rang) {
  host.rang = rang;
}

export function makeRun(input) {
  const states = [];
  let slot;
  let sent = 0;
  let settled;
  let answered;
  let listener;
  let key = "";
  let end;
  let controller;
  const done = new Promise((resolve) => {
    end = resolve;
  });
  const tell = (over, status, ...rest) => {
    states.push([status, ...rest].join(" "));
    listener(slot, status);
    if (over) end(states);
  };
  const run = {
    method_: "GET",
    url_: new URL(input, location.href).href,
    request_: new Request(input === "stall:" ? "/" : input),
    open_: () => 1,
    key_: (value) => {
      key = value;
      return false;
    },
    begin_: (place) => {
      slot = place;
      return false;
    },
    reason_() {},
    replace_() {},
    ask_(seq, question, hook, attempt, delay, response, error) {
      new Promise((resolve) => resolve(hook({ attempt, delay, response, error }))).then(
        (answer) => answered(slot, seq, question, false, answer),
        (thrown) => answered(slot, seq, question, true, thrown),
      );
    },
    send_(seq) {
      sent++;
      controller = new AbortController();
      const { signal } = controller;
      const answer =
        input === "stall:"
          ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
          : fetch(this.request_, { signal });
      answer.then(
        (response) => settled(slot, seq, response.status, response),
        (error) => settled(slot, seq, -1, error),
      );
    },
    abort_(reason) {
      states.push(`aborted ${reason?.name}`);
      controller?.abort(reason);
    },
    failure_() {},
    loading_: (attempt) => tell(false, "loading", attempt),
    waiting_: (attempt, _at, _remaining, delay) => tell(false, "waiting", attempt, delay),
    offline_: (attempt) => tell(false, "offline", attempt),
    refused_: (attempt, circuit, _at, _remaining, _probe, over) =>
      tell(over, "circuit-open", attempt, circuit, over ? "settled" : "queued"),
    success_: (attempt, response) => tell(true, "success", attempt, response.status),
    failed_: (attempt, reason) => tell(true, "failed", attempt, fail[reason]),
    exhausted_: (attempt, reason, _at, held) => tell(!held, "exhausted", attempt, exhausted[reason]),
    cancelled_: (attempt, reason) => tell(true, "cancelled", attempt, reason),
  };
  return {
    run: () => run,
    bind: (...closures) => {
      [settled, answered, listener] = closures;
    },
    done: () => done,
    slot: () => slot,
    sent: () => sent,
    key: () => key,
  };
}

export const object = (json) => JSON.parse(json);

export const nest = (path, value) => path.split(".").reduceRight((inner, name) => ({ [name]: inner }), value);

export const values = () => [NaN, -1, null, Symbol("no"), "no such word", Infinity, 0.5, "", true, {}, [], 0];

export const describe = (error) => `${error.name}: ${error.message}`;

export function withHook(json, name) {
  const hooks = {
    throws: () => {
      throw new Error("no");
    },
    rejects: () => Promise.reject(new Error("no")),
    "later-no": () => new Promise((resolve) => setTimeout(resolve, 5, false)),
    "later-yes": () => new Promise((resolve) => setTimeout(resolve, 5, true)),
  };
  return { retry: { ...JSON.parse(json), shouldRetry: hooks[name] } };
}
