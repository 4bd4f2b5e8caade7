// Where lines come from: a call or a client, which are known by their types only.
import type { Call, SteadFetch } from "../index.js";
import { callLine } from "./call-line.ts";
import { clientLine, waits } from "./client-line.ts";
import type { Line } from "./line.ts";

export interface Source {
  readonly call_?: Call;
  readonly client_?: SteadFetch;
  line_(now: number): Line | undefined;
  /** Calls `changed` at once, then on each change; returns the way out. */
  watch_(changed: () => void): () => void;
  /** Those that a click is for. */
  calls_(): readonly Call[];
}

/** Throws where a value lacks one of the methods, as the promise of a plain call does. */
function must<T extends object>(value: T, name: string, what: string, methods: readonly (keyof T)[]): void {
  const given = Object(value) as T;
  if (!methods.every((method) => typeof given[method] === "function")) {
    throw new TypeError(`steadfetch: element.${name} must be ${what}`);
  }
}

export function ofCall(call: Call): Source {
  must(call, "call", "a call of start()", ["subscribe", "getSnapshot", "retryNow", "retry", "cancel"]);
  return {
    call_: call,
    line_: (now) => callLine(call.getSnapshot(), now),
    watch_: (changed) => call.subscribe(changed),
    calls_: () => [call],
  };
}

export function ofClient(client: SteadFetch): Source {
  must(client, "client", "a client", ["subscribe", "getSnapshot", "calls"]);
  const calls = (): readonly Call[] => client.calls().filter((call) => waits(call.getSnapshot()));
  return {
    client_: client,
    line_: (now) =>
      clientLine(
        client.getSnapshot(),
        calls().map((call) => call.getSnapshot()),
        now,
      ),
    watch_: (changed) => client.subscribe(changed),
    calls_: calls,
  };
}
