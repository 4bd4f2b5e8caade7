// To be imported first: from here on it is measured what becomes of the module that comes after it.
const times = { began: performance.now(), compiled: 0, instantiated: 0 };
globalThis.start = times;

/** Adds up how long the constructor takes: meanwhile nothing else happens in the page. */
function watch(name, key) {
  WebAssembly[name] = new Proxy(WebAssembly[name], {
    construct(target, args) {
      const began = performance.now();
      const made = new target(...args);
      times[key] += performance.now() - began;
      return made;
    },
  });
}
watch("Module", "compiled");
watch("Instance", "instantiated");

export { times };
