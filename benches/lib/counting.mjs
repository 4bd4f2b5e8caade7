// Counts what a call makes the platform do. Imported before what is counted, so that nothing holds the uncounted ones.

const counts = {};
const count = (name) => {
  counts[name] = (counts[name] ?? 0) + 1;
};
const counted = (name, act) =>
  new Proxy(act, {
    apply(target, self, args) {
      count(name);
      return Reflect.apply(target, self, args);
    },
    construct(target, args, made) {
      count(`new ${name}`);
      return Reflect.construct(target, args, made);
    },
  });

for (const name of ["Request", "Response", "Headers", "AbortController", "URL"]) {
  globalThis[name] = counted(name, globalThis[name]);
}
for (const name of ["setTimeout", "clearTimeout"]) globalThis[name] = counted(name, globalThis[name]);
AbortSignal.any = counted("AbortSignal.any", AbortSignal.any);
AbortSignal.timeout = counted("AbortSignal.timeout", AbortSignal.timeout);
Date.now = counted("Date.now", Date.now);
performance.now = counted("performance.now", performance.now.bind(performance));

/** Methods by their name, properties that are read together for each class. */
for (const [name, { prototype }] of Object.entries({
  Request,
  Response,
  Headers,
  AbortSignal,
  AbortController,
  EventTarget,
})) {
  for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (key === "constructor" || !property.configurable) continue;
    if (property.get) property.get = counted(`${name}, properties read`, property.get);
    else if (typeof property.value === "function") property.value = counted(`${name}.${key}`, property.value);
    Object.defineProperty(prototype, key, property);
  }
}

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(Instance, args) {
    const { exports } = new Instance(...args);
    const wrapped = Object.entries(exports).map(([name, value]) => [
      name,
      typeof value === "function" ? counted(`wasm: ${name}`, value) : value,
    ]);
    return { exports: Object.fromEntries(wrapped) };
  },
});

/** What was counted while `act` ran. */
export async function countOf(act) {
  for (const name of Object.keys(counts)) delete counts[name];
  await act();
  return { ...counts };
}
