// The numbers that stand for what happens and for what is commanded. They are in a file of their own, and first in it, so
// that they are written in where they are used.

// Inputs, as src/web/exports.rs has them.
export const START = 0;
export const INVALID = 1;
export const SPENT = 2;
export const THREW = 3;
export const CANCEL = 4;
export const RETRY_NOW = 5;
export const RETRY = 6;
export const PREPARED = 7;
export const WATCH = 8;
export const BODY_READ = 9;
export const NOT_A_RESPONSE = 10;
export const SHOULD_RETRY = 11;
export const DELAY = 12;
export const LOCKED = 13;
export const DROP_OUT = 14;

// Commands, as src/web/told.rs has them.
export const SEND = 1;
export const ABORT = 2;
export const READ_BODY = 3;
export const DISCARD = 4;
export const ASK = 5;
export const FAILURE = 6;
export const LOADING = 7;
export const WAITING = 8;
export const OFFLINE = 9;
export const REFUSED = 10;
export const EXHAUSTED = 11;
export const SUCCESS = 12;
export const FAILED = 13;
export const CANCELLED = 14;
export const LOCK = 15;
export const UNLOCK = 16;
export const CIRCUIT = 17;

/** What `Core.look` says. */
export const CURRENT = 1;
export const AWAITS = 2;
export const QUEUED = 4;

/** Numbers in a row; the last two are where its text begins and how long it is. */
export const ROW = 12;
export const TEXT = 10;
