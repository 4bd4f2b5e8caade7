import { told } from "./lib/told.js";

/** Each request has a client of its own. What has `/shared` for its path goes to the other worker. */
export default {
  async fetch(request, { shared }) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/shared") return shared.fetch(request);
    return new Response(await told(searchParams.get("api")));
  },
};
