import { createFetch } from "steadfetch";
import "steadfetch/element";

const fetch = createFetch({ onCircuitOpen: "wait", retry: { delay: 2000, jitter: "equal" } });

const status = document.createElement("steadfetch-status");
status.messages = { success: "The report is here", limit: { one: "Tried once.", other: "Tried {count} times." } };
status.addEventListener("steadfetch-cancel", (event) => {
  if (!confirm("Do without the report?")) event.preventDefault();
});
status.call = fetch.start("/report.json"); // or for all calls together: status.client = fetch
document.body.append(status);
