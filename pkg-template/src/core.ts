// The wasm, made into an instance when it is first needed.
import { Client, initSync } from "#glue";

// One character per byte, each turned by a mask; the build writes them on the last line of the bundle.
declare const STEADFETCH_WASM: string;
declare const STEADFETCH_MASK: number;

let refused: Error | undefined;
let ready = false;

/** Throws where WebAssembly is switched off or forbidden, each time with the same error. */
export function core(): typeof Client {
  if (!ready) {
    if (refused) throw refused;
    try {
      const byte = (character: string): number => character.charCodeAt(0) ^ STEADFETCH_MASK;
      initSync({ module: Uint8Array.from(STEADFETCH_WASM, byte) });
      ready = true;
    } catch (cause) {
      throw (refused = new Error(
        "steadfetch: its WebAssembly could not be instantiated. A Content-Security-Policy must allow " +
          `'wasm-unsafe-eval' in script-src, and the script must reach the browser unaltered, as UTF-8. (${cause})`,
        { cause },
      ));
    }
  }
  return Client;
}

/** Whether it is the error above, and not one of the caller's making. */
export const isRefused = (error: unknown): boolean => error !== undefined && error === refused;
