// The scripted server by itself, without a client.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { script } from "steadfetch/testing";

const URL_ = "https://api.test/report";

describe("script()", () => {
  test("takes one step a request, and the last one again and again", async () => {
    const fetch = script([503, { status: 404, body: "none" }, 200]);
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await fetch(URL_)).status);
    assert.deepEqual(statuses, [503, 404, 200, 200]);
  });

  test("answers with real responses", async () => {
    const answer = { status: 201, headers: { "Content-Type": "application/json" }, body: '{"a":1}', retryAfter: 2 };
    const response = await script([answer])(URL_);
    assert.ok(response instanceof Response);
    assert.equal(response.url, URL_);
    assert.equal(response.headers.get("Content-Type"), "application/json");
    assert.equal(response.headers.get("Retry-After"), "2");
    assert.deepEqual(await response.json(), { a: 1 });
  });

  test("writes a Retry-After that is a date", async () => {
    const retryAfter = new Date(Date.UTC(2030, 0, 1));
    const response = await script([{ status: 503, retryAfter }])(URL_);
    assert.equal(response.headers.get("Retry-After"), "Tue, 01 Jan 2030 00:00:00 GMT");
  });

  test("sends no body where there is none: 204, and HEAD", async () => {
    const fetch = script([
      { status: 204, body: "a" },
      { status: 200, body: "a" },
    ]);
    assert.equal((await fetch(URL_)).body, null);
    assert.equal((await fetch(URL_, { method: "HEAD" })).body, null);
  });

  test("keeps the requests, whose bodies can be read although they were sent", async () => {
    const fetch = script([(request) => request.text().then((text) => ({ body: `${text} to you` }))]);
    const sent = new Request(URL_, { method: "POST", body: "hello" });
    const response = await fetch(sent);
    assert.equal(await response.text(), "hello to you");
    assert.ok(sent.bodyUsed);
    const [kept] = fetch.requests;
    assert.deepEqual([kept.method, kept.url, await kept.text()], ["POST", URL_, "hello"]);
  });

  test("asks a function, with the requests before", async () => {
    const fetch = script([({ url }, earlier) => (url.endsWith("/b") ? 404 : { body: String(earlier.length) })]);
    assert.equal(await (await fetch(`${URL_}/a`)).text(), "0");
    assert.equal((await fetch(`${URL_}/b`)).status, 404);
    assert.equal(await (await fetch(`${URL_}/c`)).text(), "2");
  });

  test("drops as the network does", async () => {
    await assert.rejects(script(["drop"])(URL_), TypeError);
  });

  for (const [name, step] of [
    ["a request that stalls", "stall"],
    ["one that takes its time", { delay: 1e9 }],
    ["one whose function takes its time", () => new Promise(() => {})],
  ]) {
    test(`ends ${name} in the turn of the abort, with its reason`, async () => {
      const controller = new AbortController();
      let ended;
      const answer = script([step])(URL_, { signal: controller.signal });
      answer.catch((error) => (ended = error));
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(ended, undefined);
      const reason = new Error("enough");
      controller.abort(reason);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(ended, reason);
    });
  }

  test("counts no request that was aborted before it was sent", async () => {
    const fetch = script([503, 200]);
    await assert.rejects(fetch(URL_, { signal: AbortSignal.abort() }), { name: "AbortError" });
    assert.equal(fetch.requests.length, 0);
    assert.equal((await fetch(URL_)).status, 503);
  });

  test("names the step that is none", () => {
    const said = (steps) => {
      try {
        script(steps);
      } catch (error) {
        return `${error.name}: ${error.message.replace("steadfetch/testing: ", "")}`;
      }
    };
    assert.deepEqual(
      [
        [],
        503,
        [200, "dorp"],
        [200, 99],
        [{ status: "200" }],
        [{ delay: -1 }],
        [null],
        [[503]],
        [{ retryAfter: "soon" }],
        [{ retryAfter: "120" }],
        [{ retryAfter: null }],
        [{ retryAfter: new Date(Number.NaN) }],
      ].map(said),
      [
        "TypeError: script() takes an array of at least one step",
        "TypeError: script() takes an array of at least one step",
        'TypeError: step 2 is "dorp"; the words are "drop" and "stall"',
        "RangeError: step 2: status must be an integer from 200 to 599",
        "RangeError: step 1: status must be an integer from 200 to 599",
        "RangeError: step 1: delay must be a number of milliseconds",
        'TypeError: step 1 must be a status, an answer, "drop", "stall" or a function',
        'TypeError: step 1 must be a status, an answer, "drop", "stall" or a function',
        ...Array(4).fill("TypeError: step 1: retryAfter must be a number of seconds or a Date"),
      ],
    );
    assert.match(said([{ headers: { "X-Name": "✓" } }]), /^TypeError: step 1: /);
  });
});
