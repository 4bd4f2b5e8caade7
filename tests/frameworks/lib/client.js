import { createFetch } from "steadfetch";

/** Of the page. The wait is long enough for a countdown of two steps. */
export const client = createFetch({ retry: { delay: 2000, jitter: "none" } });

export function words({ status, remaining }) {
  if (status === "waiting") return `trying again in ${Math.ceil(remaining / 1000)} s`;
  return status;
}
