// The wasm as a string inside the bundle, and the script that stands in for it.
import { loadScript } from "#fallback";
import type { Core } from "./core.ts";

// One character per byte, each turned by a mask; the build writes them on the last line of the bundle.
declare const STEADFETCH_WASM: string;
declare const STEADFETCH_MASK: number;
declare const STEADFETCH_SUM: number;

export function instantiate(): Core {
  const text = STEADFETCH_WASM;
  const bytes = new Uint8Array(text.length);
  let sum = 0;
  // Uint8Array.from() with a function would take most of the start.
  for (let i = 0; i < text.length; i++) {
    const byte = text.charCodeAt(i) ^ STEADFETCH_MASK;
    bytes[i] = byte;
    sum = (Math.imul(sum, 31) + byte) | 0;
  }
  if (sum !== STEADFETCH_SUM) throw new Error("the script has been altered on its way, or is not served as UTF-8");
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as unknown as Core;
}

export { loadScript };
