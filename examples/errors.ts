import { createFetch, isCircuitOpenError, isHttpError, isOfflineError, isTimeoutError } from "steadfetch";

const fetch = createFetch({ throwHttpErrors: true });
try {
  const response = await fetch("/report.json");
  console.log(await response.text());
} catch (error) {
  if (isHttpError(error)) console.log("status", error.response.status, await error.response.text());
  else if (isCircuitOpenError(error)) console.log(error.circuit, "is open until", error.retryAt);
  else if (isTimeoutError(error)) console.log(error.scope, "took longer than", error.timeout, "ms");
  else if (isOfflineError(error)) console.log("offline");
  else console.log("no answer, cancelled, or not a valid request:", error);
}
