// The wasm as a module of its own, for workerd: it compiles no bytes at run time, and never refuses a module.
import module from "./core.wasm";

export const instantiate = (imports: WebAssembly.Imports): WebAssembly.Exports =>
  new WebAssembly.Instance(module, imports).exports;

export const loadScript = (): Promise<never> => Promise.reject(new Error("there is none for this platform"));
