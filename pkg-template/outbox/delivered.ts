/** The note in the store of what was delivered last: a tab that was told nothing of an entry that is gone looks there. */
export const DELIVERED = "delivered";

const LAST = 100;

export const withDelivered = (before: unknown, id: number): number[] =>
  [...(Array.isArray(before) ? before : []), id].slice(-LAST);

export const wasDelivered = (id: number, { [DELIVERED]: ids }: Readonly<Record<string, unknown>>): boolean =>
  Array.isArray(ids) && ids.includes(id);
