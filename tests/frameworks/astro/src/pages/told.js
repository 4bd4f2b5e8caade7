import { told } from "../../../lib/told.js";

export async function GET({ url }) {
  return new Response(await told(url.searchParams.get("api")));
}
