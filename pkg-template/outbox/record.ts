// From a request to what is stored of it, and back. What comes from the disk may be anything.
import type { OutboxInit, OutboxRecord, StoredAnswer, StoredBody, StoredFile } from "../outbox.js";
import { uuid } from "../src/random.ts";
import { OutboxError } from "./error.ts";
import type { Settings } from "./options.ts";

/** Of the shape of a record. Another release that changes it counts on, and leaves alone what it does not know. */
const VERSION = 1;
export const KEY = "Idempotency-Key";
/** What lets in whoever has it. */
const SECRET = ["Authorization", "Proxy-Authorization", "Cookie"];
/** The parts of a RequestInit that are words. */
const WORDS = ["mode", "credentials", "cache", "redirect", "referrer", "referrerPolicy", "integrity"] as const;
/** What belongs to the client, or cannot be kept. */
const FOREIGN =
  /^(retry|timeout|totalTimeout|covers|breaker|budget|idempotency|on[A-Z]|throwHttp|tick|fetch|bodyFactory)/;
/** So much of an answer is kept, in bytes, and so long its body is waited for, in ms. */
const ANSWER = 65_536;
const PATIENCE = 5_000;
/** So large a body may outlive its page: browsers lend 64 KiB in all. */
const SMALL = 60_000;

function copyOf<T>(meta: T): T {
  try {
    return structuredClone(meta);
  } catch (cause) {
    throw new OutboxError("not-storable", "meta cannot be stored", cause);
  }
}

export type Draft = Omit<OutboxRecord, "id">;
type Pairs = readonly (readonly [string, string])[];

const refuse = (what: string): never => {
  throw new OutboxError("not-storable", `${what} cannot be stored`);
};

/** Reads a request at once, and its body as soon as it can be; what is wrong with it is thrown. */
export function draft(input: RequestInfo | URL, init: OutboxInit | undefined, settings: Settings) {
  for (const name of Object.keys(init ?? {})) {
    if (FOREIGN.test(name)) throw new TypeError(`steadfetch: ${name} is an option of the client, not of an entry`);
  }
  const body: unknown = init?.body;
  if (typeof body === "function") refuse("a function for a body");
  if (body instanceof ReadableStream || (typeof body === "object" && body && Symbol.asyncIterator in body)) {
    refuse("a body that is a stream");
  }
  // A copy: what the caller does with them later is not meant.
  const kept = copyOf(init?.meta);
  // Also of another frame.
  const given = typeof input === "object" && input && "signal" in input ? input : undefined;
  // As for `fetch`, null is no other body than that of the request.
  const whole = body == null && given && !["GET", "HEAD"].includes(given.method) && given.body !== null;
  const taken = whole ? undefined : take(body);
  // As it is: its parts need not be its own.
  const request = new Request(input, init);
  const headers = new Headers(request.headers);
  // It names the boundary of a text that is made anew each time.
  if (body instanceof FormData && !new Headers(init?.headers ?? given?.headers).has("Content-Type")) {
    headers.delete("Content-Type");
  }
  if (!settings.credentials_) for (const name of SECRET) headers.delete(name);
  // An empty one is none.
  if (!headers.get(KEY)) headers.delete(KEY);
  const { method, url } = request;
  if (!/^https?:/.test(url)) refuse(`an address of ${new URL(url).protocol}`);
  const queue: unknown = settings.queueKey_ ? settings.queueKey_(request) : new URL(url).origin;
  if (typeof queue !== "string") throw new TypeError("steadfetch: queueKey must return a string");
  const words = WORDS.flatMap((name) => {
    const value: unknown = request[name];
    // Nobody can ask for these two by their names.
    const own = value === "about:client" || value === "navigate";
    return typeof value === "string" && value && !own ? [[name, value]] : [];
  });
  const stored = taken ?? request.arrayBuffer().then((bytes): StoredBody => ({ kind: "bytes", bytes, type: "" }));
  const record = {
    version: VERSION,
    key: headers.get(KEY) || uuid(),
    queue,
    method,
    url,
    headers: [...headers],
    init: Object.fromEntries(words) as Record<string, string>,
    createdAt: Date.now(),
    attempts: 0,
    notBefore: 0,
    delay: 0,
    dead: 0,
    ...(kept !== undefined && { meta: kept }),
  } as const;
  return {
    signal_: init?.signal ?? given?.signal,
    /** Whether it brought a secret that is not stored. */
    secret_: !settings.credentials_ && SECRET.some((name) => request.headers.has(name)),
    async read_(): Promise<{ record_: Draft; body_: StoredBody }> {
      const body = await stored;
      return { record_: { ...record, size: sizeOf(body) }, body_: body };
    },
  };
}

/** What can be read later is read now, or is such that nobody can change it. Nothing of what only the platform can read. */
function take(body: unknown): Promise<StoredBody> | StoredBody | undefined {
  if (body === undefined || body === null) return { kind: "none" };
  if (typeof body === "string") return { kind: "text", text: body };
  if (body instanceof URLSearchParams) return { kind: "text", text: String(body) };
  if (body instanceof Blob) return body.arrayBuffer().then((bytes) => ({ kind: "bytes", bytes, type: body.type }));
  if (body instanceof FormData) return form([...body]);
  if (body instanceof ArrayBuffer) return { kind: "bytes", bytes: body.slice(0), type: "" };
  if (ArrayBuffer.isView(body)) {
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice().buffer;
    return { kind: "bytes", bytes, type: "" };
  }
  // A body of another frame is of no class of this one.
  return typeof body === "object" ? undefined : { kind: "text", text: String(body) };
}

async function form(pairs: [string, FormDataEntryValue][]): Promise<StoredBody> {
  const parts = pairs.map(async ([name, value]): Promise<readonly [string, string | StoredFile]> => {
    if (typeof value === "string") return [name, value];
    const { type, name: file, lastModified } = value;
    return [name, { bytes: await value.arrayBuffer(), type, name: file, lastModified }];
  });
  return { kind: "form", parts: await Promise.all(parts) };
}

function sizeOf(body: StoredBody): number {
  if (body.kind === "text") return new TextEncoder().encode(body.text).length;
  if (body.kind === "bytes") return body.bytes.byteLength;
  if (body.kind === "none") return 0;
  const sizes = body.parts.map(([, value]) =>
    typeof value === "string" ? new TextEncoder().encode(value).length : value.bytes.byteLength,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

// ------------------------------------------------------------ and back

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number" && value >= 0 && value < Infinity;
const isBytes = (value: unknown): value is ArrayBuffer =>
  Object.prototype.toString.call(value) === "[object ArrayBuffer]";
const isPairs = (value: unknown): value is Pairs =>
  Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText));

/** Written by a release that knows more: left alone, and passed over. */
export const isNewer = (record: unknown): boolean => isObject(record) && (record.version as number) > VERSION;

/** Why it is none of ours; undefined if it is. */
export function faultOf(record: unknown): string | undefined {
  if (!isObject(record)) return "it is no object";
  const { version, id, key, queue, method, url, headers, init, size, createdAt, attempts, notBefore, delay, dead } =
    record;
  if (version !== VERSION) return "its version is none";
  if (!Number.isSafeInteger(id) || (id as number) < 0) return "its id is none";
  for (const [name, value] of Object.entries({ key, queue, method, url })) {
    if (!isText(value)) return `its ${name} is no text`;
  }
  if (!key || !URL.canParse(url as string)) return key ? "its url is none" : "its key is empty";
  for (const [name, value] of Object.entries({ size, attempts, notBefore, delay })) {
    if (!isNumber(value)) return `its ${name} is no number`;
  }
  if (typeof createdAt !== "number") return "its createdAt is no number";
  if (dead !== 0 && dead !== 1) return "its dead is neither 0 nor 1";
  if (!isPairs(headers)) return "its headers are none";
  if (!isObject(init) || !Object.values(init).every(isText)) return "its init is none";
  if (record.answer !== undefined && !isAnswer(record.answer)) return "its answer is none";
  try {
    // Whether a request can be made of it: by the platform's own rules.
    new Request(url as string, initOf(record as unknown as OutboxRecord, undefined));
  } catch (error) {
    return `no request can be made of it (${error})`;
  }
  return;
}

function isAnswer(value: unknown): value is StoredAnswer {
  if (!isObject(value)) return false;
  const { status, statusText, headers, body } = value;
  return Number.isInteger(status) && isText(statusText) && isPairs(headers) && (body === null || isBytes(body));
}

/** What of a body makes sense; undefined if nothing does. */
export function bodyOf(body: unknown): BodyInit | null | undefined {
  if (!isObject(body)) return;
  const { kind, text, bytes, type, parts } = body;
  if (kind === "none") return null;
  if (kind === "text") return isText(text) ? text : undefined;
  if (kind === "bytes") return isBytes(bytes) && isText(type) ? new Blob([bytes], { type }) : undefined;
  if (kind !== "form" || !Array.isArray(parts)) return;
  const form = new FormData();
  for (const part of parts) {
    if (!Array.isArray(part) || !isText(part[0])) return;
    const [name, value] = part as [string, unknown];
    if (isText(value)) form.append(name, value);
    else {
      if (!isObject(value) || !isBytes(value.bytes) || !isText(value.type) || !isText(value.name)) return;
      const { bytes, type, name: file, lastModified } = value as unknown as StoredFile;
      if (typeof lastModified !== "number") return;
      form.append(name, new File([bytes], file, { type, lastModified }));
    }
  }
  return form;
}

/** What is handed to the client. */
export function initOf(record: OutboxRecord, body: BodyInit | null | undefined): RequestInit {
  const { method, headers, init, size } = record;
  return {
    // Nothing but these: the client would take others for its options.
    ...Object.fromEntries(WORDS.flatMap((name) => (Object.hasOwn(init, name) ? [[name, init[name]]] : []))),
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...(body != null && { body }),
    // What is on its way when the page goes may still arrive.
    keepalive: size <= SMALL,
  } as RequestInit;
}

/** Whether its key is among its headers, since the caller gave one. */
export const keyedBy = ({ headers }: OutboxRecord): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === KEY.toLowerCase() && value);

/** Reads what is kept of an answer. `shared`: it stays as it is, for whoever else has it. */
export async function keep(response: Response, shared: boolean): Promise<StoredAnswer> {
  const { status, statusText, headers } = response;
  const head = { status, statusText, headers: [...headers] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const reader = (shared ? response.clone() : response).body?.getReader();
    if (!reader) return { ...head, body: null };
    // A body that does not come must hold up nothing. What has come by then is kept.
    const stop = () => reader.cancel().catch(() => {});
    timer = setTimeout(stop, PATIENCE);
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for (let size = 0; size < ANSWER; ) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value.slice(0, ANSWER - size));
      size += value.length;
      if (size >= ANSWER) stop();
    }
    return { ...head, body: await new Blob(chunks).arrayBuffer() };
  } catch {
    // It was cut off, or somebody has read it.
    return { ...head, body: null };
  } finally {
    clearTimeout(timer);
  }
}

/** The answer that was kept; undefined where there was none. */
export function answerOf(answer: unknown): Response | undefined {
  if (!isAnswer(answer)) return;
  const { status, statusText, headers, body } = answer;
  const bare = [101, 204, 205, 304].includes(status);
  try {
    return new Response(bare ? null : body, {
      status,
      statusText,
      headers: headers.map(([n, v]): [string, string] => [n, v]),
    });
  } catch {
    return;
  }
}
