// A real HTTP/1.1 server on loopback that misbehaves as told.
//
//   const server = await startServer();
//   server.script("/x", [503, { status: 429, retryAfter: 2 }, "refuse", { body: "hello" }]);
//   await fetch(`${server.url}/x`);
//   server.hits("/x")[0].method;
//   await server.close();
//
// A path's steps are consumed one per request, in the order of arrival; the last one repeats. A step is
//
//   503                        a status with a short text body
//   { status, headers, body, delay }   body: string or Buffer; delay: ms before the status line
//     retryAfter: 2 | "date:+2"        both forms of Retry-After, computed when the answer is given
//     skew: 3600                       the server's clock (its Date and its dates) is that many seconds ahead
//     date: false                      no Date header
//     redirect: "/other"               302 with Location
//     drip: { bytes, every }           the body in pieces of so many bytes, one per so many ms
//     chunked: true                    no Content-Length
//     echo: true                       the body is the request, as JSON
//     cors: true | "Retry-After, Date" readable from other origins; a string is also Access-Control-Expose-Headers
//     close: true                      announces the end of the connection and closes it
//     keepAliveClose: true             closes the idle connection right after the answer, unannounced
//     keepAliveClose: "next"           resets the connection when the next request arrives on it (see `dropped`)
//     early: true                      acts on the headers of the request; else its body is received first
//   "refuse"         resets the connection before a byte of an answer
//   "hang-up"        ends the connection in good order before a byte of an answer
//   "reset-headers"  the status line and half of the headers, then a reset
//   "reset-body"     headers with Content-Length and half of the body, then a reset
//   "cut-body"       the same, ended in good order
//   "stall"          never answers
//   "stall-body"     headers and half of the body, then silence
//   "close"          { close: true }
//   { fault: "reset-body", status, headers, body, delay, ... }   a fault with the fields of an answer
//   (hit, earlier) => step   any of the above, decided per request; earlier: the path's hits before it

import http from "node:http";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const HOST = "127.0.0.1";
/** Long enough for the other side to have read what came before a reset (a reset discards what is unread). */
const BEFORE_RESET = 40;
/** No buffer on the way holds that much, and no cache wants it: `{ body: HUGE, headers: NO_STORE }` stays unsent until read. */
export const HUGE = Buffer.alloc(1 << 26);
export const NO_STORE = { "Cache-Control": "no-store" };
const LOREM = "What came before the cut. ".repeat(8);

/**
 * @param {object} [options]
 * @param {boolean | string} [options.cors]  the default of a step's `cors`
 * @param {(request: http.IncomingMessage, response: http.ServerResponse) => boolean} [options.files]
 *        answers paths that have no script; false leaves them to the 404
 */
export async function startServer({ cors = false, files } = {}) {
  const began = performance.now();
  const sockets = new Set();
  const doomed = new WeakSet();
  const scripts = new Map();
  const records = { hits: new Map(), dropped: new Map(), preflights: new Map() };
  const exchanges = new Set();
  let closing = false;

  const list = (kind, path) => {
    if (!records[kind].has(path)) records[kind].set(path, []);
    return records[kind].get(path);
  };

  const record = (kind, path, request) => {
    const hit = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      /** ms since the start of the server, and the wall clock. */
      at: performance.now() - began,
      wall: Date.now(),
      body: Buffer.alloc(0),
      get text() {
        return this.body.toString();
      },
      /** When the first byte of the answer was handed to the socket. */
      answeredAt: undefined,
      /** What Retry-After said, in wall-clock ms. */
      told: undefined,
      /** The client closed the connection before it had the whole answer. */
      aborted: false,
      /** The exchange is over, one way or the other. */
      closed: false,
    };
    list(kind, path).push(hit);
    return hit;
  };

  async function exchange(request, response) {
    const { socket } = request;
    const { pathname: path, searchParams } = new URL(request.url, `http://${HOST}`);

    if (doomed.has(socket)) {
      record("dropped", path, request);
      return socket.resetAndDestroy();
    }
    if (path === "/-/hits") {
      const hits = list("hits", searchParams.get("path")).map(({ body, ...hit }) => ({
        ...hit,
        text: body.toString(),
      }));
      return plain(response, 200, JSON.stringify(hits));
    }

    const script = scripts.get(path);
    if (isPreflight(request)) {
      record("preflights", path, request);
      return preflight(request, response, cors || script?.steps.some((step) => step.cors));
    }
    if (!script && files?.(request, response)) return;

    const earlier = [...list("hits", path)];
    const hit = record("hits", path, request);
    const gone = new AbortController();
    const state = { ours: false };
    exchanges.add(hit);
    const over = () => {
      if (hit.closed) return;
      // A big answer counts as finished once it is handed over, so the socket's end tells too.
      hit.aborted = (!response.writableFinished || socket.destroyed) && !state.ours && !closing;
      hit.closed = true;
      exchanges.delete(hit);
      gone.abort();
    };
    response.on("close", over);
    // A response that waits for an earlier one on its connection is not told of the connection's end.
    request.on("close", () => socket.destroyed && over());

    let step = script ? script.steps[Math.min(script.next++, script.steps.length - 1)] : { status: 404, cors: true };
    const received = receive(request, hit);
    try {
      if (!step.early) await received;
      if (typeof step === "function") step = normalise(step(hit, earlier));
      if (step.delay) await sleep(step.delay, undefined, { signal: gone.signal });
      await answer(
        { cors, ...step },
        { request, response, socket, hit, state, doomed, signal: gone.signal, now: () => performance.now() - began },
      );
    } catch (error) {
      if (!gone.signal.aborted && !socket.destroyed) throw error;
    }
  }

  const servers = await Promise.all(
    [0, 1].map(() =>
      listen((request, response) => {
        exchange(request, response).catch((error) => {
          process.emitWarning(error);
          request.socket.destroy();
        });
      }, sockets),
    ),
  );

  const origin = (server) => `http://${HOST}:${server.address().port}`;
  const server = {
    url: origin(servers[0]),
    /** The same paths on a second port, so on another origin. */
    origin2: origin(servers[1]),
    /** Nobody listens there. */
    closedUrl: await closedUrl(),
    script(path, steps) {
      scripts.set(path, { steps: [steps].flat().map(normalise), next: 0 });
    },
    hits: (path) => list("hits", path),
    /** Requests that arrived on a connection marked by `keepAliveClose: "next"`. They consume no step. */
    dropped: (path) => list("dropped", path),
    /** Answered by the server itself. They consume no step. */
    preflights: (path) => list("preflights", path),
    openSockets: () => sockets.size,
    /** Exchanges under way: not answered to the end, not cut. */
    busy: () => exchanges.size,
    until,
    async close() {
      closing = true;
      const closed = servers.map((each) => new Promise((done) => each.close(done)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      await until(() => sockets.size === 0 && exchanges.size === 0, "every connection to end");
    },
    [Symbol.asyncDispose]() {
      return server.close();
    },
  };
  return server;
}

/** Polls until the condition holds. */
export async function until(condition, what = "a condition", { within = 20_000 } = {}) {
  const end = performance.now() + within;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${within} ms in vain for ${what}`);
    await sleep(5);
  }
}

async function listen(handler, sockets) {
  const server = http.createServer(handler);
  server.keepAliveTimeout = 0; // an idle connection ends only when a step says so
  server.requestTimeout = 0;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {}); // resets by the client are part of the game
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, HOST, resolve));
  return server;
}

async function closedUrl() {
  const server = net.createServer();
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, HOST, resolve));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return `http://${HOST}:${port}`;
}

function normalise(step) {
  if (typeof step === "number") return { status: step };
  if (step === "close") return { close: true };
  if (typeof step === "string") {
    if (!Object.hasOwn(faults, step)) throw new TypeError(`unknown step "${step}"`);
    return { fault: step };
  }
  return step;
}

async function receive(request, hit) {
  try {
    for await (const chunk of request) hit.body = Buffer.concat([hit.body, chunk]);
  } catch {
    await new Promise(() => {}); // the client went away while sending: the exchange ends with its socket
  }
}

function isPreflight(request) {
  return request.method === "OPTIONS" && "access-control-request-method" in request.headers;
}

function preflight(request, response, allowed) {
  const headers = { Connection: "close" };
  if (allowed) {
    headers["Access-Control-Allow-Origin"] = "*";
    headers["Access-Control-Allow-Methods"] = request.headers["access-control-request-method"];
    headers["Access-Control-Allow-Headers"] = request.headers["access-control-request-headers"] ?? "";
  }
  response.writeHead(204, headers).end();
}

function plain(response, status, body) {
  response
    .writeHead(status, { "Access-Control-Allow-Origin": "*", Connection: "close", "Content-Type": "text/plain" })
    .end(body);
}

/** What an answer says before its body; also sets what the hit was told. */
function head(step, { request, hit }) {
  const clock = Date.now() + (step.skew ?? 0) * 1_000;
  const status = step.status ?? (step.redirect ? 302 : 200);
  const body = bodyOf(step, status, request, hit);
  const headers = {};
  if (step.date !== false) headers.Date = new Date(clock).toUTCString();
  if (!hasNoBody(status)) headers["Content-Type"] = step.echo ? "application/json" : "text/plain";
  if (!hasNoBody(status) && !step.chunked) headers["Content-Length"] = String(body.length);
  if (step.redirect) headers.Location = step.redirect;
  if (step.retryAfter !== undefined) {
    const [value, told] = retryAfter(step.retryAfter, clock);
    headers["Retry-After"] = value;
    hit.told = told - (step.skew ?? 0) * 1_000;
  }
  if (step.cors) {
    headers["Access-Control-Allow-Origin"] = "*";
    if (typeof step.cors === "string") headers["Access-Control-Expose-Headers"] = step.cors;
  }
  if (step.close) headers.Connection = "close";
  return { status, headers: { ...headers, ...step.headers }, body };
}

function retryAfter(value, clock) {
  const date = /^date:([+-]\d+)$/.exec(value);
  if (!date) return [String(value), clock + Number(value) * 1_000];
  const text = new Date(clock + Number(date[1]) * 1_000).toUTCString();
  return [text, Date.parse(text)];
}

function bodyOf(step, status, request, hit) {
  if (step.echo) {
    const { method, url, headers } = request;
    return Buffer.from(JSON.stringify({ method, url, headers, body: hit.text }));
  }
  if (step.body !== undefined) return Buffer.isBuffer(step.body) ? step.body : Buffer.from(step.body);
  return Buffer.from(step.fault ? LOREM : `${status} ${http.STATUS_CODES[status]}`);
}

function hasNoBody(status) {
  return status === 204 || status === 304;
}

async function answer(step, to) {
  if (step.fault) return faults[step.fault](step, to);
  const { response, socket, request, hit } = to;
  const { status, headers, body } = head(step, to);
  if (step.keepAliveClose === "next") to.doomed.add(socket);
  else if (step.keepAliveClose) response.on("finish", () => socket.end());
  response.sendDate = false;
  hit.answeredAt = to.now();
  response.writeHead(status, headers);
  if (hasNoBody(status) || request.method === "HEAD") return response.end();
  if (!step.drip) return response.end(body);
  response.flushHeaders();
  for (let from = 0; from < body.length; from += step.drip.bytes) {
    await sleep(step.drip.every, undefined, { signal: to.signal });
    response.write(body.subarray(from, from + step.drip.bytes));
  }
  response.end();
}

/** Headers and half of the body, as far as the other side can have read them. */
async function half(step, to) {
  const { status, headers, body } = head(step, to);
  to.response.sendDate = false;
  to.hit.answeredAt = to.now();
  to.response.writeHead(status, headers);
  to.response.write(body.subarray(0, body.length / 2));
  await sleep(BEFORE_RESET, undefined, { signal: to.signal });
}

function reset({ socket, state }) {
  state.ours = true;
  socket.resetAndDestroy();
}

function end({ socket, state }) {
  state.ours = true;
  socket.end();
}

const faults = {
  async refuse(_step, to) {
    reset(to);
  },
  async "hang-up"(_step, to) {
    end(to);
  },
  async "reset-headers"(step, to) {
    const { status, headers } = head(step, to);
    const lines = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    to.hit.answeredAt = to.now();
    to.socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.slice(0, lines.length / 2)}`);
    await sleep(BEFORE_RESET, undefined, { signal: to.signal });
    reset(to);
  },
  async "reset-body"(step, to) {
    await half(step, to);
    reset(to);
  },
  async "cut-body"(step, to) {
    await half(step, to);
    end(to);
  },
  async stall() {},
  async "stall-body"(step, to) {
    await half(step, to);
  },
};
