// The client as the page holds it: a function like fetch, with its stores.
import type { Circuits, SteadFetch, SteadInit, SteadOptions } from "../index.js";
import { callOf } from "./call.ts";
import { isRefused, onItsWay, withCore } from "./core.ts";
import { Family } from "./family.ts";
import { NAME, observable, SYMBOL } from "./observable.ts";
import { isShared } from "./options.ts";
import { Owner } from "./owner.ts";
import { fetchUnder, isOwn, platformFetch, standsFor } from "./platform.ts";
import { storeOf } from "./report.ts";
import { Run } from "./run.ts";
import { restore, save } from "./snapshot.ts";

/** Bad options throw here. */
function checked(owner: Owner): Owner {
  if (isShared(owner.settings_())) {
    withCore(() => {
      if (owner.over_) return;
      // The core comes first: news has to be heard from the start.
      owner.client_();
      owner.family_.join_(() => owner.settings_());
    });
  }
  return owner;
}

function circuits(owner: Owner): Circuits {
  const family = owner.family_;
  return {
    get: (key) => family.getCircuits_().find((circuit) => circuit.key === key),
    ...storeOf(family.stores_, () => family.getCircuits_()),
    isolate(key) {
      // Whatever this runs comes before the core is asked for.
      const name = String(key);
      let held = true;
      let id: number | undefined;
      withCore(() => {
        if (held) id = family.client_().isolate_(owner.settings_(), name);
      });
      return () => {
        held = false;
        if (id !== undefined) family.core_?.letGo_(id);
        id = undefined;
      };
    },
    reset(key) {
      const name = key === undefined ? undefined : String(key);
      withCore(() => family.client_().reset_(name));
    },
    [Symbol.iterator]: () => family.getCircuits_()[Symbol.iterator](),
  };
}

/** Whether the symbol of Observables is among its names depends on the page. */
type Methods = Omit<{ [Name in keyof SteadFetch]: SteadFetch[Name] }, typeof Symbol.observable>;

function client(owner: Owner): SteadFetch {
  const family = owner.family_;
  const call = (...args: [RequestInfo | URL, SteadInit?]): Promise<Response> => {
    const [input, init] = args;
    if (isOwn(family, input)) return fetchUnder(call)(input, init as RequestInit);
    return args.length
      ? new Run(owner, input, init ?? undefined, false).start_(1)
      : // The platform's own words for a call without arguments.
        new Promise((resolve) => resolve((platformFetch() as () => Promise<Response>)()));
  };
  const store = storeOf(family.stores_, () => family.getSnapshot_());
  const observed = () => observable(store.subscribe);
  // With a `fetch` of its own it needs none.
  standsFor(call, "fetch" in globalThis ? platformFetch() : undefined);
  const methods: Methods = {
    start(input: RequestInfo | URL, init?: SteadInit) {
      const run = new Run(owner, input, init ?? undefined, true);
      run.start_(1);
      return callOf(run);
    },
    extend: (options: SteadOptions) => client(checked(new Owner(family, options, owner))),
    calls: () => [...family.live_].map(callOf),
    circuits: circuits(owner),
    ...store,
    ...{ [NAME]: observed, [SYMBOL]: observed },
    snapshot: () => family.saved_ ?? save(family.core_),
    addEventListener: (type: string, listener: (event: CustomEvent) => void, options?: AddEventListenerOptions) =>
      family.addEventListener_(type, listener, options),
    removeEventListener: (type: string, listener: (event: CustomEvent) => void) =>
      family.removeEventListener_(type, listener),
    async ready() {
      try {
        owner.client_();
      } catch (error) {
        if (!isRefused(error)) throw error;
        await onItsWay();
        if (!owner.given_("degrade")) owner.client_();
      }
    },
    dispose: () => owner.dispose_(),
  };
  return Object.assign(call, methods) as SteadFetch;
}

/** A client of its own, with its own circuits. Throws a RangeError or TypeError that names a bad option. */
export function createFetch(options?: SteadOptions, from?: { restore?: string | null | undefined }): SteadFetch {
  const owner = new Owner(new Family(), options);
  // The core is not needed before the first call where there is nothing to check.
  if (options !== undefined) checked(owner);
  const saved = from?.restore;
  if (saved != null) {
    const settings = () => owner.settings_();
    const client = () => owner.client_();
    const { family_: family } = owner;
    family.saved_ = saved;
    withCore(() => {
      restore(client, settings, saved);
      family.saved_ = undefined;
      // Someone may look already.
      family.changed_();
    });
  }
  return client(owner);
}

/** `createFetch()` with the defaults, made on first use. */
export const steadfetch: SteadFetch = /* @__PURE__ */ (() => {
  let made: SteadFetch | undefined;
  const look = (): SteadFetch => {
    if (globalThis.fetch !== proxy) standsFor(proxy, platformFetch());
    return (made ??= createFetch());
  };
  const proxy: SteadFetch = new Proxy((() => {}) as unknown as SteadFetch, {
    apply: async (_, __, args) => Reflect.apply(look(), undefined, args),
    get: (_, name) => Reflect.get(look(), name),
    has: (_, name) => Reflect.has(look(), name),
  });
  standsFor(proxy, undefined);
  return proxy;
})();
