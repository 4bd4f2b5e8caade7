import { told } from "../../../lib/told.js";

/** A server component whose request Next.js does not remember for the rest of the render. */
export default async function Page({ searchParams }) {
  const { api } = await searchParams;
  return <p id="server">{await told(`${api}/server`, { keepalive: true })}</p>;
}
