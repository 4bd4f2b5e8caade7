// Where the component is put, what it asks for, and how often it is asked for that. `?still` does without the counting.
import { createFetch } from "steadfetch";

export const client = createFetch({ retry: { delay: 10, jitter: "none" } });
export const place = document.getElementById("app");
const still = location.search === "?still";
globalThis.asked = 0;

/** The address, noted as asked for. */
export function wanted(which) {
  globalThis.asked++;
  return `${location.hash.slice(1)}?${which}`;
}

export const counting = (count) => ({ onState: still ? () => {} : count });
