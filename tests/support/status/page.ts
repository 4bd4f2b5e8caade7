// What the status element is given: a call that waits, and its client.
import { createFetch } from "steadfetch";
import type { StatusEvent } from "steadfetch/element";

export const client = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000, jitter: "none" } });
export const place = document.getElementById("app") as HTMLElement;
export const load = () => client.start(location.hash.slice(1));
/** Which calls clicks were for. */
export const clicks: string[] = [];
Object.assign(globalThis, { clicks });
export const clicked = ({ type, detail }: StatusEvent) => {
  clicks.push(`${type} ${detail.calls.length}`);
};

export const messages = { success: "The report is here" };
