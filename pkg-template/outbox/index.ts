export { isOutboxError, OutboxError } from "./error.ts";
export { indexedDBStorage } from "./indexeddb.ts";
export { memoryStorage } from "./memory.ts";
export { createOutbox } from "./outbox.ts";
