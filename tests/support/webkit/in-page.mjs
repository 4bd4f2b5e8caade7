// What runs in each page of WebKitGTK: it begins what a test evaluates there, keeps what came of it until it is asked for,
// and notes what goes wrong meanwhile. It travels as text, so it refers to nothing but globals.

/** Puts `globalThis.driven` there, once. */
export function drive() {
  if (globalThis.driven) return;
  // The page's clock may be replaced.
  const { setTimeout } = globalThis;
  const runs = new Map();
  const events = [];
  let last = 0;

  // JSON has no undefined and no NaN.
  const encode = (value) =>
    JSON.stringify(value, (_, part) =>
      part === undefined || (typeof part === "number" && !Number.isFinite(part)) ? { $: String(part) } : part,
    ) ?? '{"$":"undefined"}';
  const told = (error) => ({ message: `${error?.name ?? "Error"}: ${error?.message ?? error}`, stack: error?.stack });

  const note = (kind, what) => events.push({ kind, ...what });
  addEventListener("error", (event) => {
    // Others may still say that it is none.
    setTimeout(() => event.defaultPrevented || note("pageerror", told(event.error ?? event.message)));
  });
  addEventListener("unhandledrejection", (event) => {
    setTimeout(() => event.defaultPrevented || note("pageerror", told(event.reason)));
  });
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    note("console", { type: "error", text: `Content Security Policy: ${violatedDirective} ${blockedURI}` }),
  );
  for (const [method, type] of [
    ["error", "error"],
    ["warn", "warning"],
    ["debug", "debug"],
  ]) {
    const own = console[method];
    console[method] = (...args) => {
      note("console", { type, text: args.join(" ") });
      own.apply(console, args);
    };
  }

  const take = (id) => {
    const run = runs.get(id);
    if (run.over) runs.delete(id);
    return JSON.stringify({ id, ...run, events: events.splice(0) });
  };
  const driven = {
    begin(act) {
      const run = {};
      const succeed = (value) => Object.assign(run, { over: true, value: encode(value) });
      const fail = (error) => Object.assign(run, { over: true, error: told(error) });
      runs.set(++last, run);
      try {
        const value = act();
        if (typeof value?.then === "function") Promise.resolve(value).then(succeed, fail);
        else succeed(value);
      } catch (error) {
        fail(error);
      }
      return take(last);
    },
    take,
  };
  Object.defineProperty(globalThis, "driven", { value: driven });
}
