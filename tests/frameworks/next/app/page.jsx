import { told } from "../../lib/told.js";
import { Report } from "./report.jsx";

/** A server component around one of the page. */
export default async function Page({ searchParams }) {
  const { api } = await searchParams;
  return (
    <>
      <p id="server">{await told(`${api}/server`)}</p>
      <Report url={`${api}/page`} />
    </>
  );
}
