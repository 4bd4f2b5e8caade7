// The core, made into an instance when it is first needed: WebAssembly, or where that is refused the same as JavaScript.
import { adopt, Client, imports } from "#glue";
import { instantiate, loadScript } from "#wasm";
import { mono } from "./platform.ts";

declare const STEADFETCH_BUILD: string;
/** How long calls wait for the script, and how long after a failure it is not asked for again. */
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
  if (!coming && mono() - failedAt >= PATIENCE) coming = inTime((refused as Error).cause);
  throw refused;
}

/** Late is better than never: a script that comes after that serves the next call. */
async function inTime(cause: unknown): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not come within ${PATIENCE} ms`)), PATIENCE);
    (timer as { unref?: () => void }).unref?.();
  });
  try {
    await Promise.race([load(), late]);
  } catch (error) {
    failedAt = mono();
    refuse(
      cause,
      `and its stand-in in JavaScript cannot be loaded (${error}). A Content-Security-Policy has to allow ` +
        "'wasm-unsafe-eval' in script-src, or else the script fallback.js. Scripts have to arrive unaltered, as UTF-8, and " +
        "of one release. With degrade: true calls go through without retries.",
    );
  }
  clearTimeout(timer);
  coming = undefined;
}

async function load(): Promise<void> {
  const { build, default: make } = await loadScript();
  // Another try may have been faster.
  if (there) return;
  if (build !== STEADFETCH_BUILD) throw new Error("it is of another release: the page has to be reloaded");
  adopt({ exports: make(imports().a) });
  there = true;
  refused = undefined;
  for (const act of later.splice(0)) attempt(act);
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
