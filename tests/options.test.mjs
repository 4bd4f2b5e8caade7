// What options are taken, what a bad one throws, and how some are laid over others.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import fc from "fast-check";
import { createFetch } from "../pkg/dist/index.js";
import { answer, scenario, URL_ } from "./support/cases.mjs";

const { defaults, isShared, overlay } = await source("options.ts");

/** A module of the client that stands alone, its private names as they are written. */
async function source(name) {
  const entry = fileURLToPath(new URL(`../pkg-template/src/${name}`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

const call = () => undefined;

/** Each option in the order of reading: a value that is taken, and values that are out of range and of no right type. */
const OPTIONS = {
  "retry.limit": [3, [-1, 1.5, NaN], [false, "3", null]],
  "retry.methods": [["GET", ""], [], [[1], ["GET", null], new Array(1), "GET", { length: 0 }]],
  "retry.statusCodes": [
    [100, 599, "5xx"],
    [[99], [600], [100.5], [NaN], [-Infinity]],
    [["4xx"], [null], "5xx", 503],
  ],
  "retry.delay": [0, [-1, NaN], ["1", false, null]],
  "retry.factor": [0.1, [0, Infinity, NaN], ["2", true]],
  "retry.backoffLimit": [Infinity, [-0.1], [false]],
  "retry.minDelay": [0, [-1], [null]],
  "retry.jitter": ["decorrelated", ["", "Full", "toString"], [1, null, ["full"], new String("full")]],
  "retry.maxRetryAfter": [Infinity, [-1], ["1"]],
  "retry.retryOnTimeout": [false, [], [0, "true", null, new Boolean(true)]],
  "retry.shouldRetry": [call, [], [{}, null, false]],
  "retry.beforeRetry": [call, [], ["call", true]],
  timeout: [1, [0, -1, NaN], [true, null, "1"]],
  totalTimeout: [false, [0], [true]],
  covers: ["body", ["all"], [true]],
  "breaker.key": ["origin", ["host", ""], [1, false, null]],
  "breaker.consecutiveFailures": [0, [-1, 0.5], [false]],
  "breaker.failureRate": [1, [0, 1.01, Infinity], ["1"]],
  "breaker.minimumCalls": [1, [0, 0.5], [null]],
  "breaker.window": [Infinity, [0], [false]],
  "breaker.slowCallDuration": [false, [0], [true]],
  "breaker.slowCallRate": [0.5, [2], [false]],
  "breaker.halfOpenAfter": [1, [0], [1n]],
  "breaker.maxOpen": [1, [-1], [Symbol("1")]],
  "breaker.halfOpenProbes": [1, [0], [true]],
  "breaker.halfOpenSuccesses": [Infinity, [0], [[1]]],
  "breaker.probeLease": [false, [0], [{ valueOf: () => 1 }]],
  "breaker.isFailure": [call, [], [1]],
  "breaker.share": [false, ["tab", ""], [true, null, 0]],
  "budget.capacity": [0.5, [0, NaN], [false]],
  "budget.ratio": [0, [-1], ["0"]],
  "budget.fleet": ["large", ["medium"], [1]],
  idempotencyKey: ["auto", [""], [true, 1, null, {}]],
  "idempotencyHeader.name": ["X-Key", ["", "a b", "Key:", "Schlüssel", "Key\n"], [1, null]],
  "idempotencyHeader.format": ["sf-string", ["SF-String"], [true]],
  onCircuitOpen: ["wait", ["ignore"], [false]],
  onOffline: ["ignore", ["hold"], [null]],
  onExhausted: ["hold", ["wait"], [0]],
  throwHttpErrors: [true, [], [1, "true"]],
  tickInterval: [false, [0], [true]],
  debug: [false, [], [null]],
  trace: [false, [], [0]],
  degrade: [true, [], ["yes"]],
  fetch: [call, [], [null, {}]],
};
const PATHS = Object.keys(OPTIONS);

/** Options with that one value. */
const nest = (path, value) => path.split(".").reduceRight((inner, name) => ({ [name]: inner }), value);

const escaped = (path) => path.replace(".", "\\.");

/** The error of a bad option, or undefined. */
function errorOf(act) {
  try {
    act();
  } catch (error) {
    return error;
  }
}

describe("a bad option", () => {
  for (const [path, [taken, outside, others]] of Object.entries(OPTIONS)) {
    test(`throws an error that names ${path}`, () => {
      for (const value of [taken, undefined]) createFetch(nest(path, value));
      const message = new RegExp(`^steadfetch: ${escaped(path)} must be \\S`);
      for (const value of outside) {
        assert.throws(() => createFetch(nest(path, value)), { name: "RangeError", message }, String(value));
      }
      for (const value of others) assert.throws(() => createFetch(nest(path, value)), { name: "TypeError", message });
    });
  }

  test("throws an error that says what it has to be", () => {
    for (const [options, text] of [
      [null, "TypeError: steadfetch: options must be an object"],
      [call, "TypeError: steadfetch: options must be an object"],
      [{ retry: -1 }, "RangeError: steadfetch: retry must be a whole number of 0 or more"],
      [{ retry: true }, "TypeError: steadfetch: retry must be a number, an object or false"],
      [{ breaker: true }, "TypeError: steadfetch: breaker must be an object"],
      [{ budget: null }, "TypeError: steadfetch: budget must be an object or false"],
      [{ idempotencyHeader: "X" }, "TypeError: steadfetch: idempotencyHeader must be an object"],
      [{ idempotencyKey: "" }, "RangeError: steadfetch: idempotencyKey must be a string that is not empty"],
      [{ idempotencyKey: 1 }, 'TypeError: steadfetch: idempotencyKey must be false, "auto", a string or a function'],
      [{ onOffline: "" }, 'RangeError: steadfetch: onOffline must be "wait" or "reject" or "ignore"'],
      [{ timeout: 0 }, "RangeError: steadfetch: timeout must be a number above 0"],
      [{ debug: 1 }, "TypeError: steadfetch: debug must be true or false"],
      [{ fetch: 1 }, "TypeError: steadfetch: fetch must be a function"],
      [{ retry: { delay: -1 } }, "RangeError: steadfetch: retry.delay must be a number of 0 or more"],
      [{ retry: { factor: 0 } }, "RangeError: steadfetch: retry.factor must be a finite number above 0"],
      [{ retry: { methods: "GET" } }, "TypeError: steadfetch: retry.methods must be an array"],
      [{ retry: { methods: [1] } }, "TypeError: steadfetch: retry.methods must be an array of strings"],
      [
        { retry: { statusCodes: [0] } },
        'RangeError: steadfetch: retry.statusCodes must be an array of statuses from 100 to 599 or "5xx"',
      ],
      [{ breaker: { key: "" } }, 'RangeError: steadfetch: breaker.key must be "origin" or a function'],
      [{ breaker: { share: "" } }, 'RangeError: steadfetch: breaker.share must be "tabs" or false'],
      [
        { breaker: { minimumCalls: 0 } },
        "RangeError: steadfetch: breaker.minimumCalls must be a whole number of 1 or more",
      ],
      [
        { breaker: { failureRate: 2 } },
        "RangeError: steadfetch: breaker.failureRate must be a number above 0 and at most 1",
      ],
      [{ idempotencyHeader: { name: 1 } }, "TypeError: steadfetch: idempotencyHeader.name must be a string"],
      [
        { idempotencyHeader: { name: " " } },
        "RangeError: steadfetch: idempotencyHeader.name must be the name of a header",
      ],
    ]) {
      assert.equal(String(errorOf(() => createFetch(options))), text);
    }
  });

  test("throws where it is laid over good ones, too", () => {
    const client = createFetch({ retry: 1 });
    assert.throws(() => client.extend({ retry: { limit: "1" } }), { message: /^steadfetch: retry\.limit must be / });
  });

  test("is told as what its getter throws", () => {
    for (const path of PATHS) {
      const thrown = new Error(path);
      const [group, name = group] = path.split(".");
      const inner = Object.defineProperty({}, name, {
        get() {
          throw thrown;
        },
      });
      assert.equal(
        errorOf(() => createFetch(group === name ? inner : { [group]: inner })),
        thrown,
      );
    }
  });

  test("is any value that is not taken, whatever it is", () => {
    const value = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    const groups = PATHS.map((path) => path.split(".")[0]);
    fc.assert(
      fc.property(fc.constantFrom(...PATHS, ...groups), value, (path, value) => {
        const error = errorOf(() => createFetch(nest(path, value)));
        if (!error) return;
        assert.ok([RangeError, TypeError].includes(error.constructor), error.stack);
        assert.match(error.message, new RegExp(`^steadfetch: ${escaped(path)}(\\.[a-zA-Z]+)? must be `));
      }),
      { numRuns: 2_000 },
    );
  });

  test("of a header's name is what the platform takes for none", () => {
    const name = fc.oneof(fc.string(), fc.string({ unit: "binary", maxLength: 2 }), fc.constantFrom("a_b", "~", "X-1"));
    fc.assert(
      fc.property(name, (name) => {
        const isName = !errorOf(() => new Headers([[name, ""]]));
        assert.equal(!errorOf(() => createFetch({ idempotencyHeader: { name } })), isName);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** These values of options, each behind a getter that notes its path. */
function watched(values, read, path = "") {
  const object = {};
  for (const [name, value] of Object.entries(values)) {
    const at = path + name;
    const inner = Object.getPrototypeOf(value) === Object.prototype ? watched(value, read, `${at}.`) : value;
    Object.defineProperty(object, name, {
      get() {
        if (inner === value) read.push(at);
        return inner;
      },
    });
  }
  return object;
}

/** All options, in any order of being written. */
function whole(paths) {
  const values = {};
  for (const path of paths) {
    const [group, name] = path.split(".");
    if (name) (values[group] ??= {})[name] = OPTIONS[path][0];
    else values[group] = OPTIONS[path][0];
  }
  return values;
}

describe("options are read", () => {
  const paths = fc.shuffledSubarray(PATHS);

  test("once each, in an order that does not depend on how they are written", () => {
    fc.assert(
      fc.property(paths, (paths) => {
        const read = [];
        overlay(defaults, watched(whole(paths), read));
        assert.deepEqual(
          read,
          PATHS.filter((path) => paths.includes(path)),
        );
      }),
    );
  });

  test("up to the first bad one", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PATHS), fc.subarray(PATHS, { minLength: 1 }), (good, bad) => {
        const values = whole([...good, ...bad]);
        for (const path of bad) {
          const [group, name] = path.split(".");
          if (name) values[group][name] = Symbol("bad");
          else values[group] = Symbol("bad");
        }
        const read = [];
        assert.throws(() => overlay(defaults, watched(values, read)), {
          message: new RegExp(`^steadfetch: ${escaped(bad[0])} `),
        });
        const last = PATHS.indexOf(bad[0]);
        assert.deepEqual(
          read,
          PATHS.filter((path, index) => index <= last && (good.includes(path) || bad.includes(path))),
        );
      }),
    );
  });

  test("where they are inherited", () => {
    class Options {
      get timeout() {
        return 0;
      }
    }
    assert.throws(() => createFetch(new Options()), { message: /^steadfetch: timeout must be / });
  });
});

/** Those numbers of the core's that are given. */
const numbers = (settings) =>
  Object.fromEntries(Object.entries(settings.numbers_).filter(([, it]) => !Number.isNaN(it)));

/** The defaults under each of these in turn. */
const laid = (...layers) => layers.reduce(overlay, defaults);

describe("options laid over others", () => {
  test("leave to the core what is not given", () => {
    assert.deepEqual(numbers(defaults), {});
    const { statuses_, methods_, delay_, key_, fetch_ } = defaults;
    for (const it of [statuses_, methods_, delay_, key_, fetch_]) assert.equal(it, undefined);
  });

  test("have a place for each number", () => {
    const places = PATHS.flatMap((path) => Object.keys(numbers(laid(nest(path, OPTIONS[path][0])))));
    const on = Object.keys(numbers(laid({ breaker: {}, budget: {} })));
    const own = places.filter((place) => !on.includes(place));
    assert.equal(new Set(own).size, own.length);
    assert.deepEqual(
      [...new Set(places)].map(Number).sort((a, b) => a - b),
      [...defaults.numbers_.keys()],
    );
  });

  test("change only what they give, and not what they are laid over", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(PATHS), fc.shuffledSubarray(PATHS), (first, second) => {
        const base = laid(whole(first));
        const before = structuredClone(numbers(base));
        const both = overlay(base, whole(second));
        assert.deepEqual(numbers(base), before);
        // Here an option has the same value wherever it is given.
        assert.deepEqual(both, laid(whole([...first, ...second])));
      }),
    );
  });

  test("are the same where none is given", () => {
    const base = laid({ retry: 2 });
    for (const none of [undefined, {}, { method: "POST", timeout: undefined }]) assert.equal(overlay(base, none), base);
  });

  test("switch off by false, where infinity does the same", () => {
    for (const path of ["timeout", "totalTimeout", "tickInterval", "breaker.slowCallDuration", "breaker.probeLease"]) {
      assert.deepEqual(laid(nest(path, false)), laid(nest(path, Infinity)), path);
    }
    assert.deepEqual(laid({ retry: false }), laid({ retry: { limit: 0 } }));
    assert.deepEqual(laid({ retry: 7 }), laid({ retry: { limit: 7 } }));
    assert.equal(laid({ idempotencyKey: "k" }, { idempotencyKey: false }).key_, undefined);
  });

  test("begin a breaker or a budget anew that was off", () => {
    for (const [group, old, young] of [
      ["breaker", { window: 5, share: "tabs" }, { maxOpen: 6 }],
      ["budget", { ratio: 5 }, { capacity: 6 }],
    ]) {
      assert.deepEqual(laid({ [group]: old }, { [group]: false }), laid({ [group]: false }));
      assert.deepEqual(laid({ [group]: old }, { [group]: false }, { [group]: young }), laid({ [group]: young }));
      assert.deepEqual(laid({ [group]: old }, { [group]: young }), laid({ [group]: { ...old, ...young } }));
      assert.notDeepEqual(laid({ [group]: false }), laid({ [group]: {} }));
    }
  });

  test("have functions or values, the later of the two", () => {
    const delay = () => 1;
    const key = () => "k";
    assert.equal(laid({ retry: { delay: 5 } }, { retry: { delay } }).delay_, delay);
    assert.deepEqual(laid({ retry: { delay } }, { retry: { delay: 5 } }), {
      ...laid({ retry: { delay: 5 } }),
      delay_: undefined,
    });
    assert.equal(laid({ breaker: { key } }).circuitKey_, key);
    assert.equal(laid({ breaker: { key } }, { breaker: { key: "origin" } }).circuitKey_, undefined);
    assert.equal(laid({ idempotencyKey: key }).key_, key);
    assert.equal(laid({ idempotencyKey: key }, { idempotencyKey: "auto" }).key_, "auto");
  });

  test("have each status once, and copies of lists", () => {
    const statusCodes = [503, "5xx", 404, 404, 503];
    const methods = ["GET", "patch"];
    const { statuses_: statuses, methods_: copy } = laid({ retry: { statusCodes, methods } });
    const all = new Set([404, ...Array.from({ length: 100 }, (_, index) => 500 + index)]);
    assert.equal(statuses.length, all.size);
    assert.deepEqual(new Set(statuses), all);
    methods.push("POST");
    assert.deepEqual(copy, ["GET", "patch"]);
    assert.deepEqual(laid({ retry: { statusCodes: [], methods: [] } }).statuses_, []);
  });

  test("share circuits until they say otherwise", () => {
    const shared = { breaker: { share: "tabs" } };
    assert.ok(!isShared(defaults));
    assert.ok(isShared(laid(shared)));
    assert.ok(isShared(laid(shared, { breaker: { window: 9 } })));
    assert.ok(!isShared(laid(shared, { breaker: { share: false } })));
    assert.ok(!isShared(laid(shared, { breaker: false })));
  });

  scenario("are those of an extended client, and then of a call", async (page) => {
    const client = createFetch({ retry: { limit: 1, delay: 9, jitter: "none" }, breaker: false, budget: false });
    const times = async (fetch, init) => {
      const from = page.t;
      page.script(503);
      page.see(fetch(URL_, init));
      await page.to(from + 1_000);
      return page.times.map((at) => at - from);
    };
    assert.deepEqual(await times(client), [0, 9]);
    const patient = client.extend({ retry: 2 });
    assert.deepEqual(await times(patient), [0, 9, 27]);
    assert.deepEqual(await times(patient, { retry: { delay: () => 50 } }), [0, 50, 100]);
    assert.deepEqual(await times(patient.extend({ retry: false })), [0]);
    assert.deepEqual(await times(client, { retry: { statusCodes: [500] } }), [0]);
    // What a call says is its own.
    assert.deepEqual(await times(client), [0, 9]);
  });

  scenario("are checked before a call sends anything", async (page) => {
    page.script(answer(200));
    const refused = page.see(createFetch()(URL_, { timeout: 0 }));
    await page.to(1);
    assert.equal(String(refused.error), "RangeError: steadfetch: timeout must be a number above 0");
    assert.deepEqual(page.times, []);
  });
});
