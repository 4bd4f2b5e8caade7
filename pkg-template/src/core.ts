// The core, made into an instance when it is first needed: WebAssembly, or where that is refused the same as JavaScript.
import { adopt, Client, imports } from "#glue";
import { instantiate, loadScript } from "#wasm";

declare const STEADFETCH_BUILD: string;
/** Between two tries to load the script. */
const PATIENCE = 10_000;

let there = false;
/** Why WebAssembly is not to be had, as long as nothing else is. */
let refused: Error | undefined;
/** While the script loads. */
let coming: Promise<void> | undefined;
let failedAt = Number.NEGATIVE_INFINITY;
/** What waits for the core. */
const later: (() => void)[] = [];

const refuse = (cause: unknown, text: string): void => {
  refused = new Error(`steadfetch: WebAssembly is refused here (${cause}), ${text}`, { cause });
};

/** Throws while it is not there. */
export function core(): typeof Client {
  if (there) return Client;
  if (!refused) {
    try {
      adopt({ exports: instantiate(imports()) });
      there = true;
      return Client;
    } catch (cause) {
      refuse(cause, "and its stand-in in JavaScript is not there yet: await client.ready()");
    }
  }
  if (!coming && Date.now() - failedAt >= PATIENCE) coming = load((refused as Error).cause);
  throw refused;
}

async function load(cause: unknown): Promise<void> {
  try {
    const { build, default: make } = await loadScript();
    if (build !== STEADFETCH_BUILD) throw new Error("it is of another release: the page has to be reloaded");
    adopt({ exports: make(imports().a) });
    there = true;
    refused = undefined;
  } catch (error) {
    failedAt = Date.now();
    refuse(
      cause,
      `and its stand-in in JavaScript cannot be loaded (${error}). A Content-Security-Policy has to allow ` +
        "'wasm-unsafe-eval' in script-src, or else the script fallback.js. Scripts have to arrive unaltered, as UTF-8, and " +
        "of one release. With degrade: true calls go through without retries.",
    );
  }
  coming = undefined;
  if (there) for (const act of later.splice(0)) attempt(act);
}

function attempt(act: () => void): void {
  try {
    act();
  } catch {
    // Calls say what is wrong.
  }
}

/** What throws because there is no core is done once there is one; other errors are thrown. */
export function withCore(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!isRefused(error)) throw error;
    later.push(act);
  }
}

/** Ends when the core is there or cannot be had; undefined while nothing is on its way. */
export const onItsWay = (): Promise<void> | undefined => coming;

/** Whether it says that there is no core, and not that the caller did something wrong. */
export const isRefused = (error: unknown): boolean => error !== undefined && error === refused;
