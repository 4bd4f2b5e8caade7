import { createFetch } from "steadfetch";

/** Made where nothing may be sent, timed or drawn by lot, and used by every request. */
const client = createFetch({ retry: { delay: 200, jitter: "none" } });

export default {
  fetch: (request) => client(new URL(request.url).searchParams.get("api")),
};
