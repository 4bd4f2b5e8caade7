import { createFetch, isOfflineError } from "steadfetch";

const fetch = createFetch({ onOffline: "reject" });
try {
  const response = await fetch("/report.json");
  console.log(response.status);
} catch (error) {
  if (isOfflineError(error)) console.log("No network");
  else throw error;
}
