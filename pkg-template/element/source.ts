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
  must(client, "client", "a client", ["subscribe", "getSnapshot", "addEventListener", "removeEventListener"]);
  // A snapshot has numbers only; which calls they are comes with the events.
  const known = new Set<Call>();
  const calls = (): Call[] => {
    for (const call of known) if (!waits(call.getSnapshot())) known.delete(call);
    return [...known];
  };
  return {
    client_: client,
    line_(now) {
      const states = calls().map((call) => call.getSnapshot());
      return clientLine(client.getSnapshot(), states, now);
    },
    watch_(changed) {
      const heard = ({ detail }: CustomEvent<{ readonly call?: Call }>): void => {
        if (detail.call && waits(detail.call.getSnapshot())) known.add(detail.call);
        changed();
      };
      client.addEventListener("statechange", heard);
      const off = client.subscribe(changed);
      return () => {
        client.removeEventListener("statechange", heard);
        off();
      };
    },
    calls_: calls,
  };
}
