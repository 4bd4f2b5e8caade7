import { told } from "../../../lib/told.js";

export async function load({ url }) {
  const api = url.searchParams.get("api");
  return { server: await told(`${api}/server`), url: `${api}/page` };
}
