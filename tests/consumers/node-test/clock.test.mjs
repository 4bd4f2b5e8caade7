// The virtual clock by itself, without a client.

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { script, virtualClock } from "steadfetch/testing";

describe("virtualClock()", () => {
  let clock;
  beforeEach(() => {
    clock = virtualClock({ now: Date.UTC(2030, 0, 1) });
  });
  afterEach(() => clock.restore());

  test("runs timers in the order of their times, and of their setting", async () => {
    const ran = [];
    for (const [name, ms] of Object.entries({ c: 20, a: 10, b: 10, never: 31 })) {
      setTimeout((text) => ran.push([text, clock.elapsed]), ms, name);
    }
    await clock.advance(30);
    assert.deepEqual(ran, [
      ["a", 10],
      ["b", 10],
      ["c", 20],
    ]);
    assert.equal(clock.elapsed, 30);
    assert.equal(clock.timers, 1);
  });

  test("moves both clocks, and Date", async () => {
    const [mono, wall] = [performance.now(), Date.now()];
    assert.equal(wall, Date.UTC(2030, 0, 1));
    await clock.advance(1_500);
    assert.equal(performance.now() - mono, 1_500);
    assert.equal(Date.now() - wall, 1_500);
    assert.equal(new Date().toISOString(), "2030-01-01T00:00:01.500Z");
    assert.equal(new Date(0).getTime(), 0);
    assert.ok(new Date() instanceof Date);
    assert.match(Date(), /2030|2029/);
    assert.equal(Date.UTC(1970, 0, 1), 0);
  });

  test("lets promises and streams go on between two timers", async () => {
    const seen = [];
    const fetch = script([
      { delay: 100, body: "first" },
      { delay: 100, body: "second" },
    ]);
    const all = (async () => {
      for (let i = 0; i < 2; i++) seen.push([await (await fetch("https://api.test/")).text(), clock.elapsed]);
    })();
    await clock.advance(1_000);
    assert.deepEqual(seen, [
      ["first", 100],
      ["second", 200],
    ]);
    await all;
  });

  test("clears and repeats as the platform does", async () => {
    let ran = 0;
    const interval = setInterval(() => ++ran === 3 && clearInterval(interval), 10);
    const cleared = setTimeout(() => assert.fail("it was cleared"), 5);
    clearTimeout(cleared);
    const text = setTimeout(() => assert.fail("it was cleared"), 5);
    clearTimeout(String(Number(text)));
    clearTimeout(undefined);
    await clock.advance(100);
    assert.equal(ran, 3);
    assert.equal(clock.timers, 0);
  });

  test("gives the objects that Node gives", async () => {
    let ran = 0;
    const timer = setTimeout(() => ran++, 10).unref();
    assert.equal(timer.hasRef(), false);
    await clock.advance(8);
    timer.refresh();
    await clock.advance(8);
    assert.equal(ran, 0);
    await clock.advance(2);
    assert.equal(ran, 1);
  });

  test("takes a delay that is too long, or none, as the platform does", async () => {
    const ran = [];
    for (const ms of [2 ** 31, Number.NaN, -5, undefined]) setTimeout(() => ran.push(ms), ms);
    await clock.advance(1);
    assert.deepEqual(ran, [Number.NaN, -5, undefined, 2 ** 31]);
  });

  test("rejects with what a timer throws, at its time, and goes on", async () => {
    const error = new Error("thrown");
    setTimeout(() => {
      throw error;
    }, 10);
    await assert.rejects(clock.advance(100), error);
    assert.equal(clock.elapsed, 10);
    await clock.advance(90);
    assert.equal(clock.elapsed, 100);
  });

  test("makes one move after the other", async () => {
    const ran = [];
    setTimeout(() => ran.push(clock.elapsed), 15);
    await Promise.all([clock.advance(10), clock.advance(10)]);
    assert.deepEqual([ran, clock.elapsed], [[15], 20]);
  });

  test("cannot go back, nor run code that is text", async () => {
    for (const ms of [-1, Number.NaN, Infinity, undefined]) await assert.rejects(clock.advance(ms), RangeError);
    assert.throws(() => setTimeout("1 + 1", 10), TypeError);
  });

  test("is not made twice", () => {
    assert.throws(() => virtualClock(), /not both/);
  });
});

describe("restore()", () => {
  test("puts back everything as it was", async () => {
    const names = ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date"];
    const look = () =>
      [...names.map((name) => [globalThis, name]), [performance, "now"]].map(([holder, name]) => [
        Object.getOwnPropertyDescriptor(holder, name),
        holder[name],
      ]);
    const before = look();
    const clock = virtualClock();
    const pending = setTimeout(() => assert.fail("it is not to run"), 0);
    assert.notDeepEqual(look(), before);
    clock.restore();
    clock.restore();
    assert.deepEqual(look(), before);
    clearTimeout(pending);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await assert.rejects(clock.advance(1), /restored/);
  });

  test("moves what util.promisify() makes of setTimeout", async () => {
    const clock = virtualClock();
    try {
      const waited = promisify(setTimeout)(1_000, "over");
      await clock.advance(1_000);
      assert.equal(await waited, "over");
    } finally {
      clock.restore();
    }
  });

  test("goes by Symbol.dispose too", () => {
    const { setTimeout: real } = globalThis;
    virtualClock()[Symbol.dispose]();
    assert.equal(globalThis.setTimeout, real);
  });

  test("a timer of before can be cleared meanwhile", async () => {
    const timer = setTimeout(() => assert.fail("it was cleared"), 5);
    const clock = virtualClock();
    clearTimeout(timer);
    clock.restore();
    await new Promise((resolve) => setTimeout(resolve, 10));
  });
});
