// What the build makes of the wasm.

declare module "*/core.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The wasm as JavaScript. */
declare module "*fallback.js" {
  /** That of the wasm it was made from. */
  export const build: string;
  /** Makes the exports of an instance. */
  export default function make(): import("./core.ts").Core;
}
