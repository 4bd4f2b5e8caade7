import { createFetch, isTimeoutError } from "steadfetch";

const fetch = createFetch({
  timeout: 2_000, // one attempt, up to the headers
  totalTimeout: 5_000, // all attempts and waits together
});
try {
  const response = await fetch("/report.json");
  console.log(response.status);
} catch (error) {
  if (!isTimeoutError(error)) throw error;
  console.log(error.scope, "took longer than", error.timeout, "ms");
}
