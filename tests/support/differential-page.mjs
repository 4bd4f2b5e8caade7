// The page's half of the differential test: makes values from the description of a case, anew for each side, calls
// native fetch and the clients, and tells what came of it as plain data.

/** How long a call may take before it counts as pending. The server keeps nobody waiting for longer than that. */
export const PATIENCE = 8_000;

/**
 * It travels as text, so it refers to nothing but its arguments and globals.
 *
 * @param {object} steadfetch  the package's exports
 * @param {{ url: string, origin2: string, closedUrl: string, patience: number, digest: string }} where
 * @returns {(cases: { id: string, it: object }[]) => Promise<object[]>}
 */
export function prepare(steadfetch, where) {
  const native = globalThis.fetch;
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const foreign = frame.contentWindow;
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const never = steadfetch.createFetch({ retry: false, breaker: false });
  const bare = steadfetch.createFetch({ timeout: false });
  const off = { retry: false, breaker: false };

  /** The arguments with options of ours in init. Where the copy would run getters, there is none. */
  const withOff = (args) => (args.length && isPlain(args[1]) ? [args[0], { ...args[1], ...off }] : null);
  const isPlain = (init) =>
    init === undefined ||
    (typeof init === "object" &&
      init !== null &&
      Object.getPrototypeOf(init) === Object.prototype &&
      Object.values(Object.getOwnPropertyDescriptors(init)).every(({ get }) => !get));

  /** The client without retries, called in the way the case wants. */
  function calm(via, args) {
    if (via === "start" && args.length) return never.start(...args).response;
    if (via === "extend") return bare.extend(off)(...args);
    const own = via === "init" && withOff(args);
    return own ? steadfetch.steadfetch(...own) : never(...args);
  }

  // ------------------------------------------------------------ values

  /** All that one side of a case makes. */
  class World {
    signals = [];
    actions = [];
    afterwards = [];
    thrown = new Error("thrown by the caller");

    constructor(id, side, it, shared) {
      this.it = it;
      this.shared = shared;
      this.path = `/${side}/${id}/`;
    }

    url({ form, rest }) {
      const { path } = this;
      const host = where.url.slice("http://".length);
      const absolute = `${where.url}${path}${rest}`;
      const forms = {
        absolute,
        path: `${path}${rest}`,
        "scheme-relative": `//${host}${path}${rest}`,
        cross: `${where.origin2}${path}${rest}`,
        empty: "",
        "query-only": "?x=1",
        "fragment-only": "#x",
        relative: `.${path}${rest}`,
        backslashes: `http:\\\\${host}${path.replaceAll("/", "\\")}${rest}`,
        "upper-case": `HTTP://${host}${path}${rest}`,
        padded: ` \t${absolute}\n `,
        tabs: `${absolute.slice(0, 12)}\t${absolute.slice(12)}\n`,
        "no-slashes": `http:${path.slice(1)}${rest}`,
        credentials: `http://user:pass@${host}${path}${rest}`,
        "user-only": `http://user@${host}${path}${rest}`,
        "cross-credentials": `${where.origin2.replace("//", "//u:p@")}${path}${rest}`,
        closed: `${where.closedUrl}${path}${rest}`,
        "blocked-port": `http://127.0.0.1:25${path}`,
        "bad-port": "http://127.0.0.1:99999/",
        "bad-host": "http://[",
        data: `data:text/plain,${encodeURIComponent(rest)}`,
        "data-base64": "data:;base64,AAEC/w==",
        "data-bad": "data:;base64,%",
        blob: this.shared.blob,
        "blob-gone": this.shared.gone,
        about: "about:blank",
        javascript: "javascript:1",
        file: "file:///nothing",
        ftp: "ftp://127.0.0.1/",
        "unknown-scheme": "x-y:z",
      };
      return forms[form];
    }

    /** What stands for a value that JSON has not. */
    special(value) {
      const throws = () => {
        throw this.thrown;
      };
      const kinds = {
        undefined: () => undefined,
        symbol: () => Symbol("odd"),
        object: () => ({}),
        throws: () => ({ toString: throws, valueOf: throws, [Symbol.toPrimitive]: throws }),
        String: () => new String(value.text),
        toString: () => ({ toString: () => value.text }),
        controller: () => new AbortController(),
        "signal-prototype": () => AbortSignal.prototype,
        url: () => `${value.at === "cross" ? where.origin2 : where.url}/from?here#part`,
        integrity: () => (value.right ? where.digest : `sha256-${"A".repeat(43)}=`),
        headers: () => this.headers(value),
        body: () => this.body(value),
        signal: () => this.signal(value),
      };
      return kinds[value.$]();
    }

    value(value) {
      return typeof value === "object" && value !== null ? this.special(value) : value;
    }

    headers({ kind, entries }) {
      const add = (headers) => {
        this.afterwards.push(() => headers.set("X-Late", "1"));
        return headers;
      };
      const kinds = {
        object: () => Object.fromEntries(entries),
        array: () => entries.map((entry) => [...entry]),
        Headers: () => add(new Headers(entries)),
        foreign: () => add(new foreign.Headers(entries)),
        map: () => new Map(entries),
        iterable: () => ({
          *[Symbol.iterator]() {
            yield* entries;
          },
        }),
        "null-prototype": () => Object.assign(Object.create(null), Object.fromEntries(entries)),
        triples: () => entries.map(([name, value]) => [name, value, value]),
        singles: () => entries.map(([name]) => [name]),
        numbers: () => [1, 2],
        throwing: () => ({
          get "X-A"() {
            throw world.thrown;
          },
        }),
      };
      const world = this;
      return kinds[kind]();
    }

    body({ kind, size }) {
      const text = "steady as she goes\n".repeat(Math.ceil(size / 19)).slice(0, size);
      const bytes = new TextEncoder().encode(text);
      const late = (value, change) => {
        this.afterwards.push(() => change(value));
        return value;
      };
      const stream = (begin, type) => {
        const made = new ReadableStream({ type, start: begin });
        this.stream ??= made;
        return made;
      };
      const whole = (controller) => {
        if (size) controller.enqueue(bytes);
        controller.close();
      };
      const form = (Form, File) => {
        const made = new Form();
        made.append("a", text.slice(0, 50));
        if (size > 17) made.append("file", new File([text], "name.txt", { type: "text/plain" }));
        return late(made, (it) => it.append("late", "1"));
      };
      const locked = (made) => {
        made.getReader();
        return made;
      };
      const kinds = {
        string: () => text,
        String: () => new String(text),
        number: () => size,
        object: () => ({ size }),
        array: () => [size, size],
        URLSearchParams: () => late(new URLSearchParams({ a: text, b: "&=" }), (it) => it.append("late", "1")),
        FormData: () => form(FormData, File),
        Blob: () => new Blob([text], size % 2 ? { type: "text/X" } : {}),
        File: () => new File([text], "f", { type: "application/json" }),
        ArrayBuffer: () => late(bytes.slice().buffer, (it) => new Uint8Array(it).fill(0)),
        Uint8Array: () => late(new Uint8Array([1, 2, ...bytes, 3]).subarray(2, 2 + size), (it) => it.fill(0)),
        Float32Array: () => late(new Float32Array(size >> 2).fill(1.5), (it) => it.fill(0)),
        DataView: () => new DataView(bytes.buffer, Math.min(1, size)),
        resizable: () => new ArrayBuffer(size, { maxByteLength: size + 8 }),
        detached: () => {
          const buffer = bytes.slice().buffer;
          structuredClone(buffer, { transfer: [buffer] });
          return buffer;
        },
        surrogates: () => "\ud800x\udfff",
        stream: () => stream(whole),
        "byte-stream": () => stream(whole, "bytes"),
        "stream-locked": () => locked(stream(whole)),
        "stream-used": () => {
          const made = stream(whole);
          const reader = made.getReader();
          reader.read();
          reader.releaseLock();
          return made;
        },
        "stream-cancelled": () => {
          const made = stream(() => {});
          made.cancel();
          return made;
        },
        "stream-errored": () => stream((controller) => controller.error(this.thrown)),
        "stream-bad-chunk": () =>
          stream((controller) => {
            controller.enqueue("no bytes");
            controller.close();
          }),
        "async-iterable": () => ({
          async *[Symbol.asyncIterator]() {
            yield bytes;
          },
        }),
        function: () => () => text,
        request: () => new Request("data:,"),
        "foreign-stream": () => new foreign.ReadableStream({ start: whole }),
        "foreign-FormData": () => form(foreign.FormData, foreign.File),
        "foreign-Blob": () => new foreign.Blob([text], { type: "text/y" }),
        "foreign-ArrayBuffer": () => {
          const buffer = new foreign.ArrayBuffer(size);
          new Uint8Array(buffer).set(bytes);
          return late(buffer, (it) => new Uint8Array(it).fill(0));
        },
        "foreign-URLSearchParams": () => late(new foreign.URLSearchParams({ a: text }), (it) => it.append("late", "1")),
      };
      return kinds[kind]();
    }

    signal({ when, reason, make }) {
      const reasons = {
        none: () => [],
        error: () => [new Error("enough")],
        string: () => ["enough"],
        null: () => [null],
        undefined: () => [undefined],
        zero: () => [0],
        AbortError: () => [new DOMException("enough", "AbortError")],
        TimeoutError: () => [new DOMException("enough", "TimeoutError")],
      };
      if (make === "timeout") return this.keep(AbortSignal.timeout(when === "before" ? 0 : 20));
      const controller = new (make === "foreign" ? foreign : globalThis).AbortController();
      const abort = () => controller.abort(...reasons[reason]());
      if (when === "before") abort();
      else this.actions.push({ when, abort });
      return this.keep(make === "any" ? AbortSignal.any([controller.signal]) : controller.signal);
    }

    keep(signal) {
      this.signals.push(signal);
      return signal;
    }

    /** An init, held in the way that `shape` says. */
    init(described, shape) {
      const primitives = {
        null: null,
        undefined,
        number: 5,
        zero: 0,
        string: "POST",
        boolean: true,
        symbol: Symbol("init"),
        array: ["POST"],
      };
      if (shape !== undefined && shape in primitives) return primitives[shape];
      const world = this;
      const values = {};
      for (const [name, value] of Object.entries(described)) {
        if (value?.$ === "getter-throws") {
          Object.defineProperty(values, name, {
            enumerable: true,
            get() {
              throw world.thrown;
            },
          });
        } else values[name] = this.value(value);
      }
      const properties = Object.getOwnPropertyDescriptors(values);
      const getters = () =>
        Object.fromEntries(
          Object.entries(properties).map(([name, { get, value }]) => [name, { get: get ?? (() => value) }]),
        );
      const shapes = {
        frozen: () => Object.freeze(values),
        "null-prototype": () => Object.create(null, properties),
        class: () => new (Object.defineProperties(class {}.prototype, getters()).constructor)(),
        inherited: () => Object.create(values),
        function: () => Object.defineProperties(() => {}, properties),
        foreign: () => Object.defineProperties(new foreign.Object(), properties),
        extra: () => Object.assign(values, { more: 1, [Symbol("more")]: 1, body2: () => {} }),
      };
      return shape ? shapes[shape]() : values;
    }

    async request(kind) {
      const { it } = this;
      const Kind = kind === "foreign" ? foreign.Request : kind === "subclass" ? class extends Request {} : Request;
      const address = this.url(it.url);
      let made = it.request ? new Kind(address, this.init(it.request)) : new Kind(address);
      if (kind === "copy") made = new Request(made);
      if (it.spent === "used") await made.arrayBuffer();
      else if (it.spent === "locked") made.body?.getReader();
      else if (it.spent === "cloned") made.clone();
      else if (it.spent === "body-cancelled") await made.body?.cancel();
      this.made = made;
      return kind === "proxied-request" ? new Proxy(made, {}) : made;
    }

    async input() {
      const address = this.url(this.it.url);
      const plain = {
        string: () => address,
        URL: () => new URL(address, location.href),
        "foreign-URL": () => new foreign.URL(address, location.href),
        String: () => new String(address),
        toString: () => ({ toString: () => address }),
        location: () => location,
        null: () => null,
        undefined: () => undefined,
        number: () => 7,
        symbol: () => Symbol("input"),
        object: () => ({}),
        throws: () => this.special({ $: "throws" }),
      };
      const { input } = this.it;
      return input in plain ? plain[input]() : this.request(input);
    }

    async arguments() {
      const { it } = this;
      if (it.input === "nothing") return [];
      const input = await this.input();
      return it.init || it.shape ? [input, this.init(it.init ?? {}, it.shape)] : [input];
    }

    act(when) {
      for (const action of this.actions) if (action.when === when) action.abort();
    }

    // ---------------------------------------------------------- what came of it

    error(error) {
      return {
        rejected: Object.prototype.toString.call(error),
        class: error?.constructor?.name,
        name: error?.name,
        code: error?.code,
        here: error instanceof Error,
        value: typeof error === "object" ? undefined : String(error),
        // The order of the signals is that in which they were made: the Request's first.
        reasonOf: this.signals.flatMap((signal, i) => (signal.aborted && signal.reason === error ? i : [])),
        thrown: error === this.thrown,
      };
    }

    used() {
      return { input: this.made?.bodyUsed, locked: this.stream?.locked };
    }

    async response(response) {
      const { it } = this;
      const told = {
        class: Object.prototype.toString.call(response),
        made: response.constructor.name,
        here: response instanceof Response,
        own: Object.keys(response),
        type: response.type,
        url: response.url,
        redirected: response.redirected,
        status: response.status,
        ok: response.ok,
        statusText: response.statusText,
        headers: [...response.headers],
        body: response.body === null ? null : Object.prototype.toString.call(response.body),
        bodyUsed: response.bodyUsed,
      };
      this.act("headers");
      try {
        told.read = await this.read(response, it.read);
      } catch (error) {
        told.read = this.error(error);
      }
      told.bodyUsedThen = response.bodyUsed;
      return told;
    }

    async read(response, how) {
      const aborts = this.actions.some(({ when }) => when === "body");
      if (how === "cancel") return String(await response.body?.cancel());
      if (how === "clone") {
        const copy = response.clone();
        const [first, second] = await Promise.all([response, copy].map((each) => each.arrayBuffer()));
        return [bytes(first), bytes(second), copy.url, copy.type];
      }
      if ((how === "stream" || aborts) && response.body) {
        const parts = [];
        const reader = response.body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return bytes(join(parts).buffer);
          parts.push(value);
          this.act("body");
        }
      }
      if (how === "json" || how === "text") return response[how]();
      if (how === "blob") {
        const blob = await response.blob();
        return [blob.type, bytes(await blob.arrayBuffer())];
      }
      return bytes(await response.arrayBuffer());
    }
  }

  const join = (parts) => {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  };

  /** Short ones as they are, others by their length and a hash. */
  function bytes(buffer) {
    const view = new Uint8Array(buffer);
    if (view.length <= 40) return String.fromCharCode(...view);
    let hash = 0x811c9dc5;
    for (const byte of view) hash = Math.imul(hash ^ byte, 0x01000193);
    return `${view.length} bytes, ${(hash >>> 0).toString(16)}`;
  }

  // ------------------------------------------------------------ sides

  async function side(id, name, it, shared, call) {
    const world = new World(id, name, it, shared);
    const told = {};
    let args;
    try {
      args = await world.arguments();
    } catch {
      return { unmade: true };
    }
    if (it.primed) {
      const before = await native(world.url(it.url)).catch(() => undefined);
      await before?.arrayBuffer().catch(() => undefined);
    }
    // A signal of a timeout is to fire by itself, before or after the call, but for all sides alike.
    if (world.signals.length && JSON.stringify(it).includes('"before","reason":"none","make":"timeout"'))
      await sleep(5);

    let promise;
    try {
      promise = call(args);
    } catch (error) {
      return { threw: world.error(error) };
    }
    told.promise = promise instanceof Promise;
    told.usedAtOnce = world.used();
    if (it.mutated) {
      for (const change of world.afterwards) {
        try {
          change();
        } catch {
          // Headers of a Request cannot be changed.
        }
      }
    }
    world.act("now");
    queueMicrotask(() => world.act("microtask"));
    setTimeout(() => world.act("late"), 15);
    const end = new AbortController();
    const settled = promise.then(
      async (response) => ({ response: await world.response(response) }),
      (error) => ({ error: world.error(error) }),
    );
    const late = new Promise((resolve) => {
      const timer = setTimeout(resolve, where.patience, { pending: true });
      end.signal.addEventListener("abort", () => clearTimeout(timer));
    });
    Object.assign(told, await Promise.race([settled, late]));
    end.abort();
    told.used = world.used();
    return told;
  }

  /** Whether the arguments alone are refused, before anything is sent. */
  async function refused(id, it, shared) {
    const world = new World(id, "x", it, shared);
    const args = await world.arguments();
    try {
      return !args.length || !new Request(...args);
    } catch {
      return true;
    }
  }

  /** Where the case leads, on each side, for the server's log of preflights. */
  function asked(id, name, it, shared) {
    try {
      return new URL(new World(id, name, it, shared).url(it.url), location.href).pathname;
    } catch {
      return undefined;
    }
  }

  async function one({ id, it, failing }) {
    const gone = URL.createObjectURL(new Blob(["gone"]));
    URL.revokeObjectURL(gone);
    const blob = URL.createObjectURL(new Blob(["from a blob"], { type: "text/plain" }));
    const shared = { blob, gone };
    try {
      const result = { id, sides: {}, paths: {} };
      const run = async (name, call) => {
        result.sides[name] = await side(id, name, it, shared, call);
        result.paths[name] = asked(id, name, it, shared);
      };
      await run("native", (args) => native(...args));
      const { native: oracle } = result.sides;
      if (oracle.unmade) return result;
      await run("calm", (args) => calm(it.via, args));
      // With retries on, the outcome is to be the same where there is nothing to retry.
      const network = oracle.error?.class === "TypeError" && !(await refused(id, it, shared));
      const failed = failing.includes(oracle.response?.status) || network || oracle.pending;
      // Each with circuits of its own, so that no case suffers from another.
      const defaults = steadfetch.createFetch();
      if (!failed)
        await run("eager", (args) =>
          it.via === "start" && args.length ? defaults.start(...args).response : defaults(...args),
        );
      return result;
    } finally {
      URL.revokeObjectURL(blob);
    }
  }

  return async (cases, lanes) => {
    const results = [];
    const rest = cases.values();
    const lane = async () => {
      for (const each of rest) {
        results.push(await one(each));
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return results;
  };
}
