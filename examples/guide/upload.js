import { createFetch } from "steadfetch";

const fetch = createFetch();

/** `open` makes the stream anew for each attempt. */
export const upload = (url, open) => fetch(url, { method: "PUT", body: open });
