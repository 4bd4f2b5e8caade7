import { createFetch, isCircuitOpenError } from "steadfetch";

const fetch = createFetch();
try {
  const response = await fetch("/report.json");
  console.log(response.status);
} catch (error) {
  if (!isCircuitOpenError(error)) throw error;
  if (error.cause) console.log("sent, and then:", error.cause.status ?? error.cause.error);
  else console.log("not sent, because calls before this one failed");
}
