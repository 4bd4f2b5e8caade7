import { told } from "../../../lib/told.js";

export const runtime = "nodejs";

export async function GET(request) {
  return new Response(await told(new URL(request.url).searchParams.get("api")));
}
