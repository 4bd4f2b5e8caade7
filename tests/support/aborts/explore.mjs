// Gives up at every step of a scenario, in every way there is, and looks at what is left.

import { anyScenario } from "./scenarios.mjs";
import { install, random, WALL, World } from "./world.mjs";

const URL_ = "https://a.test/x";

/** Who ends the call. `started` by start(); `signals`: which of init and Request carries the signal that is aborted. */
export const ways = {
  init: { signals: ["init"] },
  request: { signals: ["request"], started: true },
  both: { signals: ["init", "request"] },
  cancel: { started: true },
  dispose: { started: true },
  child: {},
  bare: { signals: ["init"], bare: true },
};

/** Any value may be a reason. */
const reasons = [
  () => ({ why: "navigation" }),
  () => null,
  () => new DOMException("too long", "TimeoutError"),
  () => "left",
  () => new Error("of the caller"),
  () => 0,
];

const final = (state) =>
  /^(success|failed|cancelled)$/.test(state?.status) ||
  (state?.status === "exhausted" && !state.held) ||
  (state?.status === "circuit-open" && state.settled);

/** Reads a body chunk by chunk: text() does not tell what broke it in each browser. */
async function whole(response) {
  const reader = response.body.getReader();
  for (;;) if ((await reader.read()).done) return true;
}

function see(promise, read) {
  const seen = { settled: false };
  promise.then(
    async (response) => {
      Object.assign(seen, { settled: true, response });
      if (!read) return;
      try {
        seen.read = await whole(response);
      } catch (error) {
        Object.assign(seen, { broken: true, error });
      }
    },
    (error) => Object.assign(seen, { settled: true, rejected: true, error, response: error?.response }),
  );
  return seen;
}

/** One call of a client: what it is told, and what becomes of it. */
class Subject {
  told = [];
  seen = see(new Promise(() => {}));
  begun = false;
  settledAt = Number.POSITIVE_INFINITY;
  /** What it had been told when the caller gave up, and whether that was its end. */
  last = undefined;
  over = false;
  /** It was being made just then: there was nothing to cancel yet. */
  missed = false;

  /** Begins it; `input` and `init` are ready but for the listeners. */
  begin(world, client, input, init, { way, read, name = "" }) {
    this.begun = true;
    const hear = (who) => (state) => {
      if (who === "onState") this.told.push(state);
      world.inside(`${who}${name} ${state.status}`);
    };
    const all = way.bare ? init : { ...init, onState: hear("onState") };
    if (way.started) {
      this.call = client.start(input, all);
      this.call.subscribe(hear("subscriber"));
    }
    const promise = this.call ? this.call.response : client(input, all);
    this.seen = see(promise, read);
    const settle = () => {
      this.settledAt = world.steps.length;
    };
    promise.then(settle, settle);
  }

  /** The caller gives up now. */
  mark(way) {
    this.last = this.told.at(-1);
    this.over = way.bare ? this.seen.settled : final(this.last);
    this.missed = way === ways.cancel && !this.call;
  }

  /** It has to end with that very reason, or as it had ended before. */
  faults({ way, expected, wayName, before, ends, at }) {
    const { told, seen } = this;
    const faults = [];
    const check = (holds, text) => void (holds || faults.push(text));
    const reasoned = seen.rejected && Object.is(seen.error, expected.reason);
    if (before && /dispose|child/.test(wayName)) {
      check(seen.rejected && seen.error?.name === "InvalidStateError", `began after dispose(): ${show(seen)}`);
      return faults;
    }
    check(seen.settled, "never settled");
    if (way.bare) {
      // Between the end and the moment at which the promise tells of it, either may be seen.
      const { settledAt } = ends;
      if (at < settledAt - 8) check(reasoned, `rejected with another value: ${show(seen)}`);
      else if (at >= settledAt) check(!seen.rejected || !reasoned, "gave up after the end");
      return faults;
    }
    check(told.filter(final).length === 1, `told ${told.filter(final).length} ends`);
    const last = told.at(-1);
    if (this.over) {
      check(last === this.last, `ended as ${this.last.status}, then as ${last.status}`);
      return faults;
    }
    check(last?.status === "cancelled", `ended as ${last?.status}`);
    if (/dispose|child/.test(wayName)) {
      check(seen.rejected && seen.error?.name === "AbortError", `rejected with another value: ${show(seen)}`);
      check(Object.is(seen.error, last?.reason), "the state's reason is not the promise's");
    } else {
      check(reasoned, `rejected with another value: ${show(seen)}`);
      check(Object.is(last?.reason, expected.reason), "the state has another reason");
    }
    return faults;
  }
}

const show = ({ settled, rejected, error }) => (settled ? (rejected ? String(error) : "a response") : "pending");

/** What is left when all is over, but for what belongs to a client that is observed. */
function leftovers(world, subjects, { observed, throws }) {
  const faults = [];
  const check = (holds, text) => void (holds || faults.push(text));
  if (!observed) {
    check(world.liveTimers === 0, `${world.liveTimers} timers are left`);
    check(world.listening.length === 0, `listens to ${world.listening}`);
  }
  const listeners = world.signals.reduce((sum, all) => sum + all.size, 0);
  check(listeners === 0, `${listeners} listeners are left on the caller's signals`);
  const owned = new Set(subjects.map(({ seen }) => seen.response));
  for (const [response, { state }] of world.bodies) {
    if (!owned.has(response)) check(state !== "open", `the body of a ${response.status} is left open`);
  }
  check(world.unhandled.length === 0, `unhandled: ${world.unhandled}`);
  check(world.reported.length <= (throws ? 1 : 0), `reported: ${world.reported}`);
  return faults;
}

/** The client works for another call, at once where its circuit has a permit to give. */
async function another(world, client) {
  world.go(true);
  world.script({ status: 200 });
  const [circuit] = client.circuits.getSnapshot();
  if (circuit?.status === "open") await world.to(Math.max(world.t, circuit.openUntil - WALL));
  const states = [];
  const seen = see(client(`${URL_}/next`, { onState: (state) => states.push(state) }));
  const probing = states.some(({ status, probe }) => status === "loading" && probe);
  const faults = [];
  if (/open/.test(circuit?.status) && !probing) faults.push("no permit for another call");
  await world.to(world.t + 120_000, () => seen.settled);
  if (seen.response?.status !== 200) faults.push(`another call: ${show(seen)}`);
  seen.response?.body?.cancel();
  await world.drain();
  return faults;
}

async function disposed(world, client) {
  client.dispose();
  await world.drain();
  const faults = [];
  if (world.liveTimers) faults.push("dispose() leaves a timer");
  if (world.listening.length) faults.push(`dispose() leaves listeners for ${world.listening}`);
  if (world.unhandled.length) faults.push(`unhandled: ${world.unhandled}`);
  return faults;
}

/** What the caller gives a call, and how it gives up. */
function handles(world, wayName, at) {
  const way = ways[wayName];
  const expected = { reason: undefined };
  const controllers = { init: new AbortController(), request: new AbortController() };
  const carried = way.signals ?? ["init"];
  const request = carried.includes("request") && new Request(URL_, { signal: controllers.request.signal });
  if (request) world.watch(request.signal);
  const of = (init) => {
    return [request || URL_, carried.includes("init") ? { ...init, signal: controllers.init.signal } : init];
  };
  if (carried.includes("init")) world.watch(controllers.init.signal);
  const giveUp = (subjects, client) => {
    const reason = reasons[Math.abs(at) % reasons.length]();
    expected.reason = reason;
    if (wayName === "cancel") for (const { call } of subjects) call?.cancel(reason);
    else if (way.signals) {
      const backwards = at % 2 && subjects.every(({ told }) => told.length);
      for (const name of backwards ? [...carried].reverse() : carried) abort(controllers[name], reason);
    } else {
      world.disposed = wayName === "dispose";
      client.dispose();
    }
  };
  // Of two the first one counts; before the call is under way, that of init.
  const abort = (controller, reason) => {
    const first = !Object.values(controllers).some(({ signal }) => signal.aborted);
    controller.abort(first ? reason : { why: "second" });
  };
  return { way, expected, of, giveUp };
}

/** Runs a scenario and gives up at a step, or at none. Resolves to { steps, within, faults, ends }. */
export async function run({ createFetch }, scenario, wayName, { at = -1, ends, throws = false, ticks = 8 } = {}) {
  const world = new World(1, ticks);
  Object.assign(world, { at, throws });
  const { way, expected, of, giveUp } = handles(world, wayName, at);
  const parent = createFetch(scenario.client(world));
  const client = wayName === "child" ? parent.extend({}) : parent;
  const { observed, read } = scenario;
  const shared = scenario.shared && wayName === "init";
  const subject = new Subject();
  const beside = new Subject();
  let offs = [];

  await scenario.before?.(world, parent);
  world.online = scenario.online ?? true;
  world.script(...scenario.script);
  if (!way.bare) client.addEventListener("statechange", () => world.inside("statechange"));
  if (observed && !way.bare) {
    parent.addEventListener("circuit", () => world.inside("circuit"));
    offs = [
      parent.subscribe(() => world.inside("store of the client")),
      parent.circuits.subscribe(() => world.inside("store of circuits")),
    ];
  }
  const began = world.t;
  for (const [after, act] of scenario.events ?? []) world.set(() => act(world), after, "event");
  world.beside = () => {
    const init = shared ? of({})[1] : { signal: world.watch(new AbortController().signal) };
    if (!world.disposed) beside.begin(world, parent, `${URL_}/beside`, init, { way: { bare: true } });
  };

  const faults = [];
  const requests = () => world.called.filter(([name]) => name.startsWith("fetch /x")).length;
  world.giveUp = () => {
    subject.mark(way);
    giveUp([subject], client);
  };
  world.onTurn = () => {
    if (subject.missed || way.bare) return;
    if (!subject.over && !subject.seen.settled) faults.push("not settled within a macrotask");
  };

  world.counting = true;
  world.step("before the call");
  const init = typeof scenario.init === "function" ? scenario.init(world) : scenario.init;
  subject.begin(world, client, ...of(init), { way, read });
  world.tick();
  await world.to(began + 20_000);

  world.counting = false;
  const called = [...world.called];
  if (!world.gaveUp) {
    const status = subject.told.at(-1)?.status;
    const [wanted, count] = scenario.ends;
    if (!way.bare && status !== wanted) faults.push(`ended as ${status}, not as ${wanted}`);
    if (requests() !== count) faults.push(`${requests()} requests, not ${count}`);
    if (scenario.ends[0] !== "loading" && !scenario.client(world).onExhausted && !subject.seen.settled) {
      faults.push("never settled");
    }
    ends = { settledAt: subject.settledAt };
  } else if (!subject.missed) {
    const before = world.steps.length === 1;
    faults.push(...subject.faults({ way, expected, wayName, before, ends, at }));
    const late = called
      .filter(([name, after]) => after && (shared || world.disposed || !/\/beside$/.test(name)))
      .map(([name]) => name);
    if (late.length && !subject.over) faults.push(`called after the end: ${late}`);
    if (read && subject.over && way.signals && subject.seen.response) {
      const { broken, error, read: complete } = subject.seen;
      if (broken ? !Object.is(error, expected.reason) : !complete) faults.push("the body did not hear of it");
    }
    if (beside.seen.response === undefined && scenario.beside && !world.disposed && !shared) {
      faults.push(`the call beside: ${show(beside.seen)}`);
    }
  }
  if (!subject.seen.settled) {
    giveUp([subject], client);
    await world.drain();
  }
  faults.push(...leftovers(world, [subject, beside], { observed: observed && !way.bare, throws }));
  if (!world.disposed) faults.push(...(await another(world, parent)));
  for (const off of offs) off();
  faults.push(...(await disposed(world, parent)));
  return { steps: world.steps, within: world.within, faults: [...new Set(faults)], ends };
}

/**
 * Gives up at each step of the scenario, in each of the ways. Resolves to { runs, steps, faults, names }; a fault names
 * the way and the step, `names` are those of all steps.
 */
export async function explore(steadfetch, scenario, { ways: among = Object.keys(ways), ticks = 8 } = {}) {
  const uninstall = install();
  const told = [];
  const names = new Set();
  let runs = 0;
  let steps = 0;
  try {
    for (const name of among) {
      const one = async (options) => {
        const result = await run(steadfetch, scenario, name, { ticks, ...options });
        runs++;
        const { at, throws } = options;
        const where = at === undefined ? "nobody gives up" : `${name}, step ${at} (${result.steps[at]})`;
        for (const fault of result.faults) told.push(`${where}${throws ? ", which throws" : ""}: ${fault}`);
        return result;
      };
      const whole = await one({});
      steps += whole.steps.length;
      for (const step of whole.steps) names.add(step);
      const { ends } = whole;
      for (let at = 0; at < whole.steps.length; at++) {
        const result = await one({ at, ends });
        if (result.steps[at] !== whole.steps[at]) told.push(`${name}, step ${at}: not the same one again`);
      }
      if (/init|cancel/.test(name)) {
        for (const at of whole.within) if (!/beside/.test(whole.steps[at])) await one({ at, ends, throws: true });
      }
    }
  } finally {
    uninstall();
  }
  return { runs, steps, faults: told, names: [...names] };
}

/** Three calls of one client with one signal, as the seed has it; the caller gives up at a step, or never. */
async function mingle({ createFetch }, seed, at, { ticks }) {
  const world = new World(seed, ticks);
  world.at = at;
  const faults = [];
  const { client: options, calls, script, events, observed, wayName } = anyScenario(world, seed);
  const { way, expected, of, giveUp } = handles(world, wayName, at);
  const parent = createFetch(options);
  const client = wayName === "child" ? parent.extend({}) : parent;
  const subjects = calls.map(() => new Subject());
  const begun = () => subjects.filter((subject) => subject.begun);
  world.script(...script);
  client.addEventListener("statechange", () => world.inside("statechange"));
  if (observed) parent.addEventListener("circuit", () => world.inside("circuit"));

  world.giveUp = () => {
    for (const subject of subjects) subject.mark(way);
    giveUp(subjects, client);
  };
  world.onTurn = () => {
    const late = begun().filter(({ missed, over, seen }) => !missed && !over && !seen.settled);
    if (late.length) faults.push(`${late.length} calls are not settled within a macrotask`);
  };
  calls.forEach(({ after, init, read }, index) => {
    const begin = () => {
      // A click on "cancel" is not for calls to come.
      if (world.gaveUp && wayName === "cancel") return;
      const name = ` of call ${index}`;
      subjects[index].late = world.gaveUp;
      subjects[index].begin(world, client, ...of(init), { way, read, name });
    };
    world.set(begin, after, "begin");
  });
  for (const [after, act] of events) world.set(() => act(world), after, "event");
  world.counting = true;
  await world.to(20_000);
  world.counting = false;

  if (world.gaveUp) {
    const heard = begun().filter(({ missed }) => !missed);
    for (const subject of heard) {
      faults.push(...subject.faults({ way, expected, wayName, before: subject.late, at }));
    }
    const late = world.called.filter(([, after]) => after).map(([name]) => name);
    // Calls are cancelled one after the other, and each may take the other's place.
    if (late.length && wayName !== "cancel") faults.push(`called after the end: ${late}`);
  }
  if (begun().some(({ seen }) => !seen.settled)) {
    giveUp(subjects, client);
    await world.drain();
  }
  faults.push(...leftovers(world, subjects, { observed }));
  if (!world.disposed) faults.push(...(await another(world, parent)));
  faults.push(...(await disposed(world, parent)));
  return { steps: world.steps, faults: [...new Set(faults)], wayName, told: subjects.map(({ told }) => told) };
}

/** Of what a state says, all that two cores can be compared by. */
const plain = (_, value) =>
  value instanceof Response ? `a ${value.status}` : value instanceof Error ? String(value) : value;

/** Everything that the calls of these seeds are told, a line for each run; see exploreSeeds(). */
export async function traceSeeds(steadfetch, first, count) {
  const lines = [];
  await exploreSeeds(steadfetch, first, count, {
    each: 2,
    onRun: ({ told }) => lines.push(JSON.stringify(told, plain)),
  });
  return lines;
}

const SPANS = [0, 0.5, 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 + 1, 2 ** 53, 2 ** 64, 1e300, Number.MAX_VALUE, Infinity];
const EXTREMES = {
  retry: (value) => ({ retry: value }),
  ...Object.fromEntries(
    ["delay", "minDelay", "backoffLimit", "maxRetryAfter", "factor", "limit"].map((name) => [
      `retry.${name}`,
      (value) => ({ retry: { [name]: value } }),
    ]),
  ),
  "retry.delay()": (value) => ({ retry: { delay: () => value } }),
  ...Object.fromEntries(
    ["timeout", "totalTimeout", "tickInterval"].map((name) => [name, (value) => ({ [name]: value })]),
  ),
  ...Object.fromEntries(
    ["consecutiveFailures", "minimumCalls", "window", "halfOpenAfter", "maxOpen", "probeLease", "slowCallDuration"].map(
      (name) => [`breaker.${name}`, (value) => ({ breaker: { consecutiveFailures: 3, [name]: value } })],
    ),
  ),
  "budget.capacity": (value) => ({ budget: { capacity: value } }),
};

/** What calls are told under options at the ends of all numbers, a line for each. */
export async function traceExtremes({ createFetch }) {
  const lines = [];
  const uninstall = install();
  try {
    for (const [name, options] of Object.entries(EXTREMES)) {
      for (const value of SPANS) {
        const world = new World(1, 1);
        world.script({ status: 503 }, { status: 503, headers: { "Retry-After": "1" } }, { status: 503 });
        const told = [];
        try {
          const client = createFetch(options(value));
          const seen = see(client(URL_, { onState: (state) => told.push(state) }));
          await world.to(3_000);
          told.push(client.circuits.getSnapshot(), seen.settled);
          client.dispose();
          await world.drain();
        } catch (error) {
          told.push(error);
        }
        lines.push(`${name} ${value} ${JSON.stringify(told, plain)}`);
      }
    }
  } finally {
    uninstall();
  }
  return lines;
}

/** `count` seeds from `first`, each at some steps that it decides. Resolves to { runs, steps, faults }. */
export async function exploreSeeds(steadfetch, first, count, { each = 6, ticks = 4, onRun = () => {} } = {}) {
  const uninstall = install();
  const told = [];
  let runs = 0;
  let steps = 0;
  try {
    for (let seed = first; seed < first + count; seed++) {
      const some = random(seed);
      const one = async (at) => {
        const result = await mingle(steadfetch, seed, at, { ticks });
        onRun(result);
        runs++;
        const where = at < 0 ? "nobody gives up" : `${result.wayName}, step ${at} (${result.steps[at]})`;
        for (const fault of result.faults) told.push(`seed ${seed}, ${where}: ${fault}`);
        return result;
      };
      const whole = await one(-1);
      steps += whole.steps.length;
      for (let i = 0; i < each; i++) {
        const at = Math.floor(some() * whole.steps.length);
        const result = await one(at);
        if (result.steps[at] !== whole.steps[at]) told.push(`seed ${seed}, step ${at}: not the same one again`);
      }
    }
  } finally {
    uninstall();
  }
  return { runs, steps, faults: told };
}
