// The places where a page may die between two steps that belong together, by name, for a build that tests just that.
declare const STEADFETCH_POINTS: boolean;

/** All of them: before and after whatever is waited for. A test sees that a page has died at each. */
export const POINTS = [
  // Reads what is stored, and what another tab speaks of.
  "loading",
  "loaded",
  "hearing",
  "heard",
  // Becomes the one that sends, by a lease where there are no locks, and goes.
  "leasing",
  "leased",
  "taking-over",
  "taken-over",
  "leaving",
  "left",
  // Stores an entry.
  "reading",
  "read",
  "storing",
  "entry-added",
  "body-added",
  "stored",
  // Within each transaction that writes.
  "committing",
  "committed",
  // Sends it.
  "looking",
  "looked",
  "preparing",
  "prepared",
  "sending",
  "sent",
  "answered",
  "noting",
  "noted",
  // Takes it out, once the server has it.
  "keeping",
  "kept",
  "removing",
  "removed",
  // What the server does not want, and what makes no sense.
  "burying",
  "buried",
  "reviving",
  "revived",
  "setting-aside",
  "set-aside",
  "pausing",
  "pause-stored",
] as const;

export function point(name: (typeof POINTS)[number]): void {
  if (STEADFETCH_POINTS) (globalThis as { steadfetchPoint?: (name: string) => void }).steadfetchPoint?.(name);
}
