// The judge of the differential test: what the server answers and has seen, and where two sides differ.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

const TEXT = "As the server said it.";
/** Those who wait for more than this get the rest, so that no connection is held for ever. */
const RELEASE = 2_000;

export const DIGEST = `sha256-${createHash("sha256").update(TEXT).digest("base64")}`;

/**
 * The differences from native fetch that are meant. They are no defects and never will be.
 *
 * @type {{ name: string, why: string, engines?: string[], holds: (it: object, difference: object) => boolean }[]}
 */
export const EXCEPTIONS = [
  {
    name: "two signals",
    why: "a caller's signal in the Request is honoured beside that in init; native forgets it (semantics, section 5)",
    holds: (it, difference) =>
      it.init?.signal?.$ === "signal" &&
      it.request?.signal?.$ === "signal" &&
      it.request.signal.when !== "never" &&
      only(difference, /^outcome$|^(error|seen|used)\.|^response\.(read|bodyUsedThen)/),
  },
  {
    name: "a function as body",
    why: "it is a factory, called once per attempt; native sends its source text",
    holds: (it, difference) => it.init?.body?.kind === "function" && only(difference, /^seen\.hits\./),
  },
  {
    name: "keepalive and an abort",
    why: "Firefox rejects a keepalive request with an AbortError of its own; the client with the caller's reason (section 5)",
    holds: (it, difference) =>
      keepsAlive(it) &&
      difference.what["error.reasonOf"]?.[0] === "[]" &&
      difference.what["error.reasonOf"]?.[1] !== "[]" &&
      only(difference, /^error\./),
  },
  {
    name: "a DOMException as a signal's reason",
    why: "WebKit rejects with an AbortError of its own in its place, after a timeout too; the client with the reason (section 5)",
    engines: ["WebKitGTK"],
    holds: (it, difference) =>
      signals(it).length > 0 &&
      difference.what["error.reasonOf"]?.[0] === "[]" &&
      difference.what["error.reasonOf"]?.[1] !== "[]" &&
      only(difference, /^error\./),
  },
  {
    name: "a signal that is lost",
    why: "WebKit forgets what AbortSignal.any() made once it collects garbage, so that the body does not hear of an abort",
    engines: ["WebKitGTK"],
    holds: (it, difference) => signals(it).length > 0 && only(difference, /^response\.(read|bodyUsedThen)/),
  },
  {
    name: "a body that is cut",
    why: "whether WebKit calls it used, read to where it was cut, differs between two native fetches as well",
    engines: ["WebKitGTK"],
    holds: (it, difference) => it.answer?.fault === "cut-body" && only(difference, /^response\.bodyUsedThen/),
  },
  {
    name: "a stream as body",
    why: "WebKit sends none; a client that may retry has read the stream of a Request before, and sends its bytes",
    engines: ["WebKitGTK"],
    holds: (it, { what }) =>
      [it.init, it.request].some((init) => /stream/.test(init?.body?.kind)) &&
      (what.outcome?.[0] === 'rejected with "NotSupportedError"' || what["error.name"]?.[0] === '"NotSupportedError"'),
  },
  {
    name: "an abort in the same turn",
    why: "a request fails at once and is aborted in the same turn: the caller's reason wins (semantics, section 5)",
    holds: (it, { what }) =>
      abortsAtOnce(it) && what["error.class"]?.[0] === '"TypeError"' && what["error.reasonOf"]?.[1] === "[0]",
  },
];

/** Whether nothing else differs. */
export function only({ what }, pattern) {
  return Object.keys(what).every((key) => pattern.test(key));
}

const signals = (it) => [it.init?.signal, it.request?.signal].filter((signal) => signal?.$ === "signal");
const keepsAlive = (it) => [it.init, it.request].some((init) => init?.keepalive);
const abortsAtOnce = (it) => signals(it).some(({ when }) => when === "now" || when === "microtask");

/** A request that fails when it is sent may do so before or after an abort that comes a moment later. */
const luck = (it, what) =>
  signals(it).some(({ when }) => when === "late") &&
  [0, 1].some((i) => what["error.class"]?.[i] === '"TypeError"' && what["error.reasonOf"]?.[1 - i] === "[0]");

/** Answers `/<side>/<id>/...` as the case says, and keeps what came. */
export class Answers {
  #cases = new Map();
  #hits = new Map();
  #server;

  /** @param {(request: object, response: object) => boolean} otherwise */
  constructor(otherwise) {
    this.files = (request, response) => this.#take(request, response) || otherwise(request, response);
  }

  set server(server) {
    this.#server = server;
  }

  add(id, it) {
    this.#cases.set(id, it.answer ?? {});
  }

  /** What the server saw of a side, without what names the side. */
  seen(id, side, path) {
    const key = `${side}/${id}`;
    const hits = this.#hits.get(key) ?? [];
    const preflights = (path ? this.#server.preflights(path) : []).map(({ headers }) => headers);
    return { count: hits.length, hits: { ...hits }, preflights: { ...preflights } };
  }

  forget(id) {
    this.#cases.delete(id);
    for (const side of ["native", "calm", "eager"]) this.#hits.delete(`${side}/${id}`);
  }

  #take(request, response) {
    const [, side, id, rest] = /^\/([a-z]+)\/(c\w+)\/(.*)$/.exec(request.url) ?? [];
    const plan = this.#cases.get(id);
    if (!plan) return false;
    const key = `${side}/${id}`;
    if (!this.#hits.has(key)) this.#hits.set(key, []);
    const parts = [];
    const { method, url, rawHeaders } = request;
    const order = rawHeaders.filter((_, i) => i % 2 === 0);
    const hit = { method, url, order, headers: {}, body: undefined };
    for (const [i, name] of order.entries()) hit.headers[name] = rawHeaders[2 * i + 1];
    this.#hits.get(key).push(hit);
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      hit.body = Buffer.concat(parts).toString("latin1");
      this.#answer(request, response, { plan, side, id, rest });
    });
    return true;
  }

  #answer(request, response, { plan, side, id, rest }) {
    const headers = [["Date", "Mon, 02 Jan 2023 00:00:00 GMT"], ...(plan.headers ?? [])];
    const { origin } = request.headers;
    const cors = plan.cors ?? "star";
    if (cors !== "none") {
      const open = cors === "star" || cors.startsWith("exposed") || !origin;
      headers.push(["Access-Control-Allow-Origin", open ? "*" : origin]);
      if (cors === "credentials") headers.push(["Access-Control-Allow-Credentials", "true"]);
      if (cors.startsWith("exposed")) {
        headers.push(["Access-Control-Expose-Headers", cors === "exposed" ? "X-Z, Retry-After" : "*"]);
      }
    }
    if (plan.cache === "etag") headers.push(["ETag", '"tag"']);
    else if (plan.cache) headers.push(["Cache-Control", plan.cache]);

    const hops = (rest.match(/hop/g) ?? []).length;
    if (plan.redirect && hops < (plan.redirect.to === "twice" ? 2 : plan.redirect.to === "loop" ? 99 : 1)) {
      const location = this.#location(plan.redirect.to, `/${side}/${id}/`, hops);
      if (location !== undefined) headers.push(["Location", location]);
      response.writeHead(plan.redirect.status, [...headers, ["Content-Length", "0"]].flat()).end();
      return;
    }
    if (plan.fault === "reset") return request.socket.resetAndDestroy();
    if (plan.fault === "end") return request.socket.destroy();

    const status = plan.status ?? 200;
    const empty = status === 204 || status === 304;
    const plain = Buffer.from(plan.size === undefined ? TEXT : TEXT.repeat(5_000).slice(0, plan.size));
    let body = plain;
    if (plan.coded && !empty) {
      if (plan.coded === "gzip") body = gzipSync(plain);
      headers.push(["Content-Encoding", plan.coded.replace("-broken", "")]);
    }
    if (!headers.some(([name]) => name === "Content-Type") && !empty) headers.push(["Content-Type", "text/plain"]);
    if (!plan.chunked && !empty) headers.push(["Content-Length", String(body.length)]);
    const head = () => {
      const words = plan.statusText === undefined ? [] : [plan.statusText];
      response.writeHead(status, ...words, headers.flat());
    };
    if (plan.waits === "headers") {
      setTimeout(() => {
        head();
        response.end(body);
      }, RELEASE);
      return;
    }
    head();
    if (request.method === "HEAD" || empty) return response.end();
    if (plan.fault === "cut-body") {
      response.write(body.subarray(0, body.length >> 1));
      setTimeout(() => request.socket.destroy(), 5);
    } else if (plan.waits === "body") {
      response.flushHeaders();
      response.write(body.subarray(0, (body.length + 1) >> 1));
      setTimeout(() => response.end(body.subarray((body.length + 1) >> 1)), RELEASE);
    } else response.end(body);
  }

  #location(to, path, hops) {
    const { url, origin2, closedUrl } = this.#server;
    const targets = {
      hop: `${path}hop`,
      relative: "hop?relative",
      cross: `${origin2}${path}hop`,
      fragment: `${path}hop#fragment`,
      twice: `${hops ? origin2 : url}${path}${"hop".repeat(hops + 1)}`,
      credentials: `${url.replace("//", "//u:p@")}${path}hop`,
      loop: `${path}${"hop".repeat(hops + 1)}`,
      closed: `${closedUrl}${path}hop`,
      data: "data:text/plain,x",
      bad: "http://[",
      empty: "",
      back: `${url}${path}hop`,
    };
    return targets[to];
  }
}

/** Without what names the side, the case, or a body. */
function plainly(told, id, side) {
  const named = new RegExp(`/${side}(/|%2F)${id}`, "g");
  let text = JSON.stringify(told).replace(named, "/SIDE$1ID");
  // A boundary is new for each body.
  const boundaries = new Set([...text.matchAll(/-+(?:WebKitFormBoundary|geckoformboundary)\w+/g)].map(([it]) => it));
  for (const boundary of [...boundaries].sort((a, b) => b.length - a.length)) {
    text = text.replaceAll(boundary, "BOUNDARY");
  }
  // Firefox's differ in length as well.
  if (boundaries.size) text = text.replace(/"Content-Length":"\d+"/g, '"Content-Length":"SOME"');
  // Pages of the server carry the time of day.
  return JSON.parse(text.replace(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, "DATE"));
}

/** All that is told of a side, on one level: `{ "response.status": 200, ... }`. */
function flat(value, prefix = "", into = {}) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) into[prefix] = JSON.stringify(value);
  else for (const [key, inner] of Object.entries(value)) flat(inner, prefix ? `${prefix}.${key}` : key, into);
  return into;
}

/**
 * Whether the server may have seen more or less for reasons that are none of ours: an abort comes before or after the
 * request has arrived, and browsers send again what was reset on a connection that they had used before.
 */
const races = (it) =>
  ["reset", "end"].includes(it.answer?.fault) || abortsAtOnce(it) || signals(it).some(({ when }) => when === "late");

/** Where one was answered and the other was not, that says it all; of long texts, what is around the difference. */
function brief(what) {
  const outcome = [0, 1].map((i) => {
    const part = (name) => what[name]?.[i];
    if (part("response.status")) return `answered ${part("response.status")}`;
    if (part("error.name")) return `rejected with ${part("error.name")}`;
    return part("error.rejected") && `rejected with ${part("error.value") ?? part("error.rejected")}`;
  });
  const other = Object.entries(what).filter(([key]) => !/^(error|response)\./.test(key));
  const whole = outcome[0]?.slice(0, 4) !== outcome[1]?.slice(0, 4) ? { outcome } : undefined;
  const rest = whole ? other.filter(([key]) => !/^seen\.(hits|preflights)/.test(key)) : Object.entries(what);
  return { ...whole, ...Object.fromEntries(rest.map(([key, pair]) => [key, around(pair)])) };
}

function around([one = "nothing", other = "nothing"]) {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - 20);
  return [one, other].map((text) => (text.length < 120 ? text : `...${text.slice(from, from + 100)}...`));
}

/**
 * Where the sides of a case differ from native.
 *
 * @returns {{ pairs: number, differences: { side: string, what: Record<string, [string, string]> }[], outcome?: string }}
 */
export function judge(it, { id, sides, paths }, answers) {
  const { native } = sides;
  if (native.unmade) return { pairs: 0, differences: [] };
  const view = (side) => {
    const seen = races(it) ? {} : answers.seen(id, side, paths[side]);
    return flat(plainly({ ...sides[side], seen }, id, side));
  };
  const oracle = view("native");
  const others = Object.keys(sides).filter((side) => side !== "native");
  const differences = others.flatMap((side) => {
    const own = view(side);
    const keys = new Set([...Object.keys(oracle), ...Object.keys(own)]);
    const what = {};
    for (const key of keys) if (oracle[key] !== own[key]) what[key] = [oracle[key], own[key]];
    return Object.keys(what).length && !luck(it, what) ? [{ side, what: brief(what) }] : [];
  });
  const outcome = native.response ? `answered, ${native.response.type}` : `rejected, ${native.error?.class}`;
  return { pairs: others.length, differences, outcome };
}
