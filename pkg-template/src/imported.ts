// The wasm as a module of its own, for workerd: it compiles no bytes at run time, and never refuses a module.
import type { Core } from "./core.ts";
import module from "./core.wasm";

export const instantiate = (): Core => new WebAssembly.Instance(module).exports as unknown as Core;

export const loadScript = (): Promise<never> => Promise.reject(new Error("there is none for this platform"));
