// The circuit breaker.

import assert from "node:assert/strict";
import { fact } from "./fact.mjs";

const failing = (times, ...then) => [...Array(times).fill(503), ...then];

export const circuits = [
  fact("five failures in a row open the circuit, and the next call is refused unsent", {
    steps: { "/x": 503, "/other": 200 },
    act: async ({ createFetch, url, trip, thrown, CircuitOpenError, isCircuitOpenError }) => {
      const client = createFetch();
      await trip(client, `${url}/x`);
      const call = client.start(`${url}/other`);
      const error = await thrown(call);
      return {
        is: error instanceof CircuitOpenError && error instanceof Error,
        guard: isCircuitOpenError(error),
        circuit: error.circuit,
        ahead: error.retryAt - Date.now(),
        status: call.state.status,
        settled: call.state.settled,
        attempt: call.state.attempt,
        failures: call.state.failures.length,
        circuits: [...client.circuits].map(({ key, status, reason }) => ({ key, status, reason })),
      };
    },
    check: ({ ahead, ...value }, server) => {
      assert.deepEqual(value, {
        is: true,
        guard: true,
        circuit: server.url,
        status: "circuit-open",
        settled: true,
        attempt: 0,
        failures: 0,
        circuits: [{ key: server.url, status: "open", reason: "consecutive" }],
      });
      assert.ok(ahead > 20_000 && ahead <= 30_001, `${ahead} ms ahead`);
      assert.deepEqual([server.hits("/x").length, server.hits("/other").length], [5, 0]);
    },
  }),

  fact("lost connections open the circuit too", {
    act: async ({ createFetch, closedUrl, thrown, isCircuitOpenError }) => {
      const client = createFetch({ retry: false });
      const errors = [];
      for (let i = 0; i < 6; i++) errors.push(await thrown(client(closedUrl)));
      return errors.map(isCircuitOpenError);
    },
    check: (refused) => assert.deepEqual(refused, [false, false, false, false, false, true]),
  }),

  fact("404 and 429 do not open the circuit (B188)", {
    steps: { "/x": [404, 404, 404, 404, 404, 404, 429, 429, 429, 200] },
    act: async ({ createFetch, url }) => {
      const client = createFetch({ retry: false });
      const seen = [];
      for (let i = 0; i < 10; i++) seen.push((await client(`${url}/x`)).status);
      return [seen, client.circuits.get(url).status];
    },
    check: (value) => assert.deepEqual(value, [[404, 404, 404, 404, 404, 404, 429, 429, 429, 200], "closed"]),
  }),

  fact("calls that the user cancels do not open the circuit (B178)", {
    steps: { "/stall": "stall", "/x": 200 },
    act: async ({ createFetch, url, thrown, hits, until }) => {
      const client = createFetch({ retry: false });
      for (let i = 1; i <= 6; i++) {
        const call = client.start(`${url}/stall`);
        await until(async () => (await hits("/stall")).length === i);
        call.cancel();
        await thrown(call);
      }
      return (await client(`${url}/x`)).status;
    },
    check: (status) => assert.equal(status, 200),
  }),

  fact("a probe after halfOpenAfter closes the circuit", {
    steps: { "/x": failing(5, 200) },
    act: async ({ createFetch, url, trip, sleep }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 300 } });
      await trip(client, `${url}/x`);
      await sleep(350);
      const probe = (await client(`${url}/x`)).status;
      return [probe, client.circuits.get(url).status, (await client(`${url}/x`)).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, [200, "closed", 200]);
      assert.equal(server.hits("/x").length, 7);
    },
  }),

  fact("a probe that fails opens the circuit again", {
    steps: { "/x": failing(6, 200) },
    act: async ({ createFetch, url, trip, sleep, thrown, isCircuitOpenError }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 300 }, retry: false });
      await trip(client, `${url}/x`);
      await sleep(350);
      const probe = (await client(`${url}/x`)).status;
      const { status, reason } = client.circuits.get(url);
      return [probe, status, reason, isCircuitOpenError(await thrown(client(`${url}/x`)))];
    },
    check: (value, server) => {
      assert.deepEqual(value, [503, "open", "probe-failed", true]);
      assert.equal(server.hits("/x").length, 6);
    },
  }),

  fact("one probe at a time; one that is cancelled gives its turn back (B174, B189)", {
    steps: { "/x": failing(5, "stall", 200) },
    act: async ({ createFetch, url, trip, sleep, thrown, hits, until, isCircuitOpenError }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 300 }, retry: false });
      await trip(client, `${url}/x`);
      await sleep(350);
      const probe = client.start(`${url}/x`);
      await until(async () => (await hits("/x")).length === 6);
      const error = await thrown(client(`${url}/x`));
      probe.cancel();
      await thrown(probe);
      return [probe.state.status, isCircuitOpenError(error), error.retryAt, (await client(`${url}/x`)).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["cancelled", true, null, 200]);
      assert.equal(server.hits("/x").length, 7);
    },
  }),

  fact('onCircuitOpen: "wait" waits for its turn', {
    steps: { "/x": failing(5, 200) },
    act: async ({ createFetch, url, trip, reached }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 300 }, onCircuitOpen: "wait" });
      await trip(client, `${url}/x`);
      const calls = [client.start(`${url}/x`), client.start(`${url}/x`)];
      const states = [await reached(calls[0], "circuit-open"), await reached(calls[1], "circuit-open")];
      return {
        settled: states.map((state) => state.settled),
        statuses: [(await calls[0]).status, (await calls[1]).status],
        circuit: client.circuits.get(url).status,
      };
    },
    check: (value, server) => {
      assert.deepEqual(value, { settled: [false, false], statuses: [200, 200], circuit: "closed" });
      const hits = server.hits("/x");
      assert.equal(hits.length, 7);
      assert.ok(hits[5].at - hits[4].answeredAt >= 299);
    },
  }),

  fact("retryNow() on an open circuit makes the call its probe", {
    steps: { "/x": failing(5, 200) },
    act: async ({ createFetch, url, trip, reached }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 60_000 }, onCircuitOpen: "wait" });
      await trip(client, `${url}/x`);
      const call = client.start(`${url}/x`);
      await reached(call, "circuit-open");
      return [call.retryNow(), (await call).status, client.circuits.get(url).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, [true, 200, "closed"]);
      assert.equal(server.hits("/x").length, 6);
    },
  }),

  fact("each origin has its own circuit", {
    steps: { "/x": 503, "/y": 200 },
    act: async ({ createFetch, url, origin2, trip }) => {
      const client = createFetch();
      await trip(client, `${url}/x`);
      return [client.circuits.get(url).status, (await client(`${origin2}/y`)).status];
    },
    check: (value) => assert.deepEqual(value, ["open", 200]),
  }),

  fact("two clients know nothing of each other, an extended one shares its parent's circuits", {
    steps: { "/x": 503, "/y": 200 },
    act: async ({ createFetch, url, trip, thrown, isCircuitOpenError }) => {
      const client = createFetch();
      const child = client.extend({ retry: false });
      const stranger = createFetch();
      await trip(child, `${url}/x`);
      return [isCircuitOpenError(await thrown(client(`${url}/y`))), (await stranger(`${url}/y`)).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, [true, 200]);
      assert.equal(server.hits("/y").length, 1);
    },
  }),

  fact("isolate() holds a circuit open until it is let go", {
    steps: { "/x": 200 },
    act: async ({ createFetch, url, thrown, isCircuitOpenError }) => {
      const client = createFetch();
      const release = client.circuits.isolate(url);
      const { status } = client.circuits.get(url);
      const refused = isCircuitOpenError(await thrown(client(`${url}/x`)));
      release();
      return [status, refused, (await client(`${url}/x`)).status];
    },
    check: (value, server) => {
      assert.deepEqual(value, ["isolated", true, 200]);
      assert.equal(server.hits("/x").length, 1);
    },
  }),

  fact("reset() closes an open circuit", {
    steps: { "/x": failing(5, 200) },
    act: async ({ createFetch, url, trip }) => {
      const client = createFetch();
      await trip(client, `${url}/x`);
      client.circuits.reset(url);
      return (await client(`${url}/x`)).status;
    },
    check: (status) => assert.equal(status, 200),
  }),

  fact("an open circuit becomes half-open on time, whoever asks and whoever only listens", {
    steps: { "/x": failing(5, 200), "/y": failing(5, 200) },
    act: async ({ createFetch, url, trip, until }) => {
      const client = createFetch({ breaker: { halfOpenAfter: 300 } });
      await trip(client, `${url}/x`);
      const { origin } = new URL(url);
      const before = client.circuits.get(origin).status;
      await until(async () => client.circuits.get(origin).status === "half-open");
      const listening = createFetch({ breaker: { halfOpenAfter: 300 } });
      const heard = [];
      listening.addEventListener("circuit", (event) => heard.push(event.detail.status));
      await trip(listening, `${url}/y`);
      await until(async () => heard.length === 2);
      return [before, heard];
    },
    check: (value) => assert.deepEqual(value, ["open", ["open", "half-open"]]),
  }),

  fact("breaker: false never refuses", {
    steps: { "/x": failing(7, 200) },
    act: async ({ createFetch, url }) => {
      const client = createFetch({ breaker: false, retry: false });
      const seen = [];
      for (let i = 0; i < 8; i++) seen.push((await client(`${url}/x`)).status);
      return seen;
    },
    check: (seen) => assert.deepEqual(seen, failing(7, 200)),
  }),

  fact("with the defaults a lone call has all its four retries", {
    steps: { "/x": failing(4, 200) },
    act: async ({ createFetch, url }) => (await createFetch({ retry: { delay: 20 } })(`${url}/x`)).status,
    check: (status, server) => {
      assert.equal(status, 200);
      assert.equal(server.hits("/x").length, 5);
    },
  }),
];
