import type { OutboxErrorCode } from "../outbox.js";

const NAME = "OutboxError";

export class OutboxError extends Error {
  readonly code: OutboxErrorCode;

  constructor(code: OutboxErrorCode, text: string, cause?: unknown) {
    super(`steadfetch: ${text}`, cause === undefined ? undefined : { cause });
    this.name = NAME;
    this.code = code;
  }
}

/** Also of another copy of this package. */
export const isOutboxError = (error: unknown): error is OutboxError =>
  error instanceof Error && error.name === NAME && typeof (error as OutboxError).code === "string";

/** What a store threw, as an error of ours. */
export function storageError(error: unknown): OutboxError {
  if (isOutboxError(error)) return error;
  const { name } = Object(error) as Partial<Error>;
  if (name === "QuotaExceededError") return new OutboxError("storage-full", "there is no room in the store", error);
  if (name === "SecurityError" || name === "NotAllowedError") {
    return new OutboxError("storage-denied", "the browser refuses storage here", error);
  }
  return new OutboxError("storage-failed", `the store failed (${error})`, error);
}
