// steadfetch/xstate with the real XState: a call as an actor that a larger machine steers by.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { createFetch } from "steadfetch";
import { script, virtualClock } from "steadfetch/testing";
import { fromRequest } from "steadfetch/xstate";
import { assign, createActor, sendTo, setup } from "xstate";

/** Profile (a): four attempts, waits of min(20,000, 400 * 2^attempt) with equal jitter, transient: none, 429, 5xx. */
const PROFILE_A = {
  retry: { limit: 3, delay: 800, factor: 2, backoffLimit: 20_000, jitter: "equal", statusCodes: [429, "5xx"] },
  breaker: false,
  budget: false,
};

/** The machine of one call, whose states steer what a screen shows. */
function screen(client) {
  const is =
    (...wanted) =>
    ({ event }) =>
      wanted.includes(event.snapshot.context.status);
  const note = assign({
    waits: ({ context, event }) => {
      const { status, delay } = event.snapshot.context;
      return status === "waiting" && context.last !== "waiting" ? [...context.waits, delay] : context.waits;
    },
    last: ({ event }) => event.snapshot.context.status,
    attempts: ({ event }) => event.snapshot.context.attempt,
  });
  const tell = (type) => sendTo("request", { type });
  return setup({ actors: { request: fromRequest(client) } }).createMachine({
    context: { waits: [], attempts: 0, last: "idle" },
    initial: "idle",
    states: {
      idle: { on: { load: "request" } },
      request: {
        invoke: {
          src: "request",
          id: "request",
          input: { input: "https://api.example/report" },
          onSnapshot: [
            { guard: is("loading"), target: ".loading", actions: note },
            { guard: is("waiting"), target: ".waiting", actions: note },
            { guard: is("exhausted"), target: ".exhausted", actions: note },
            { guard: is("failed"), target: ".failed", actions: note },
            { guard: is("cancelled"), target: ".cancelled", actions: note },
          ],
          onDone: { target: "success", actions: assign({ response: ({ event }) => event.output }) },
        },
        initial: "loading",
        states: {
          loading: {},
          waiting: { on: { tryNow: { actions: tell("retryNow") } } },
          exhausted: { on: { tryAgain: { actions: tell("retry") } } },
          failed: { on: { tryAgain: { actions: tell("retry") } } },
          cancelled: { on: { tryAgain: { actions: tell("retry") } } },
        },
        on: { cancel: { actions: tell("cancel") }, leave: "idle" },
      },
      success: { type: "final" },
    },
  });
}

let clock;
beforeEach(() => {
  clock = virtualClock();
});
afterEach(() => clock.restore());

/** A running machine over a scripted server, in virtual time. */
async function run(steps, act) {
  const server = script(steps);
  const client = createFetch({ ...PROFILE_A, fetch: server });
  const actor = createActor(screen(client)).start();
  const states = [];
  actor.subscribe(({ value }) => {
    const name = typeof value === "string" ? value : Object.values(value)[0];
    if (states.at(-1) !== name) states.push(name);
  });
  actor.send({ type: "load" });
  await act({ actor, server, states, client });
  actor.stop();
  client.dispose();
}

describe("a machine over an actor of a request", () => {
  test("goes through profile (a): four attempts, three waits with equal jitter, then exhausted", async () => {
    await run([503], async ({ actor, server, states }) => {
      await clock.advance(60_000);
      const { context } = actor.getSnapshot();
      const round = ["loading", "waiting"];
      assert.deepEqual(states, [...round, ...round, ...round, "loading", "exhausted"]);
      assert.equal(server.requests.length, 4);
      assert.equal(context.attempts, 4);
      assert.equal(context.waits.length, 3);
      for (const [i, wait] of context.waits.entries()) {
        const whole = Math.min(20_000, 400 * 2 ** (i + 1));
        assert.ok(wait >= whole / 2 && wait <= whole, `wait ${i + 1} was ${wait} of ${whole}`);
      }
    });
  });

  test("ends with the response of a success", async () => {
    await run([429, "drop", { status: 200, body: "here" }], async ({ actor, states }) => {
      await clock.advance(10_000);
      assert.equal(states.at(-1), "success");
      assert.equal(actor.getSnapshot().status, "done");
      assert.equal(await actor.getSnapshot().context.response.text(), "here");
    });
  });

  test("does not wait where another attempt would not help", async () => {
    await run([404], async ({ server, states }) => {
      await clock.advance(60_000);
      assert.deepEqual(states, ["loading", "failed"]);
      assert.equal(server.requests.length, 1);
    });
  });

  test("retryNow ends a wait", async () => {
    await run([{ status: 503, retryAfter: 30 }, 200], async ({ actor, server, states }) => {
      await clock.advance(100);
      actor.send({ type: "tryNow" });
      await clock.advance(100);
      assert.deepEqual(states, ["loading", "waiting", "loading", "success"]);
      assert.equal(server.requests.length, 2);
    });
  });

  test("retry begins another run after the end of one", async () => {
    await run([503, 503, 503, 503, 200], async ({ actor, states }) => {
      await clock.advance(60_000);
      assert.equal(states.at(-1), "exhausted");
      actor.send({ type: "tryAgain" });
      await clock.advance(100);
      assert.equal(states.at(-1), "success");
    });
  });

  test("cancel gives up, and the machine may go on from there", async () => {
    await run(["stall", 200], async ({ actor, server, states }) => {
      await clock.advance(100);
      actor.send({ type: "cancel" });
      await clock.advance(60_000);
      assert.deepEqual([states.at(-1), server.requests.length], ["cancelled", 1]);
      actor.send({ type: "tryAgain" });
      await clock.advance(100);
      assert.equal(states.at(-1), "success");
    });
  });

  test("leaving the state that invoked it cancels the call", async () => {
    await run(["stall"], async ({ actor, server, client }) => {
      await clock.advance(100);
      assert.equal(client.getSnapshot().loading, 1);
      actor.send({ type: "leave" });
      await clock.advance(0);
      assert.equal(client.getSnapshot().loading, 0);
      assert.equal(server.requests[0].signal.aborted, true);
    });
  });
});

describe("the snapshot of the actor", () => {
  test("has the state of the call as its context", async () => {
    const client = createFetch({ ...PROFILE_A, fetch: script([200]) });
    const actor = createActor(fromRequest(client), { input: { input: "https://api.example/" } });
    assert.equal(actor.getSnapshot().context.status, "idle");
    actor.start();
    assert.equal(actor.getSnapshot().context.status, "loading");
    await clock.advance(10);
    const { status, context, output } = actor.getSnapshot();
    assert.deepEqual([status, context.status, output === context.response], ["done", "success", true]);
  });

  test("can be kept as JSON, and asks again when it is restored", async () => {
    const server = script(["stall", 200]);
    const client = createFetch({ ...PROFILE_A, fetch: server });
    const logic = fromRequest(client);
    const actor = createActor(logic, { input: { input: "https://api.example/" } }).start();
    await clock.advance(10);
    const kept = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
    actor.stop();
    const restored = createActor(logic, { snapshot: kept }).start();
    await clock.advance(10);
    assert.deepEqual([restored.getSnapshot().status, server.requests.length], ["done", 2]);
  });
});
