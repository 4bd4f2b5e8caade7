// What calls reject with, apart from what fetch itself throws. Guards compare brands, so that errors of another
// copy or realm are known too.
import type { CallState, Failure } from "../index.js";

const brand = "@@steadfetch";
type Kind = "circuit" | "offline" | "timeout" | "http";

class SteadError extends Error {
  constructor(kind: Kind, name: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    // Not enumerable, as with native errors.
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true });
    Object.defineProperty(this, brand, { value: kind });
  }
}

export class CircuitOpenError extends SteadError {
  readonly circuit: string;
  readonly retryAt: number | null;
  constructor(circuit: string, retryAt: number | null, cause?: Failure) {
    super("circuit", "CircuitOpenError", `The circuit of ${circuit} is open`, cause);
    this.circuit = circuit;
    this.retryAt = retryAt;
  }
}

export class OfflineError extends SteadError {
  constructor() {
    super("offline", "OfflineError", "The browser is offline");
  }
}

export class TimeoutError extends SteadError {
  readonly scope: "attempt" | "total";
  readonly timeout: number;
  constructor(scope: "attempt" | "total", timeout: number) {
    super("timeout", "TimeoutError", `The ${scope === "total" ? "call" : "attempt"} took longer than ${timeout} ms`);
    this.scope = scope;
    this.timeout = timeout;
  }
}

export class HttpError extends SteadError {
  declare readonly response: Response;
  declare readonly state: CallState;
  constructor(response: Response, state: CallState) {
    super("http", "HttpError", `The server answered ${response.status}`);
    // Bodies do not belong into logs that print own properties.
    Object.defineProperty(this, "response", { value: response });
    Object.defineProperty(this, "state", { value: state });
  }
}

const is = (error: unknown, kind: Kind): boolean =>
  typeof error === "object" && error !== null && (error as Record<string, unknown>)[brand] === kind;

export const isCircuitOpenError = (error: unknown): error is CircuitOpenError => is(error, "circuit");
export const isOfflineError = (error: unknown): error is OfflineError => is(error, "offline");
export const isTimeoutError = (error: unknown): error is TimeoutError => is(error, "timeout");
export const isHttpError = (error: unknown): error is HttpError => is(error, "http");
