import { fetch } from "./client.js";

const call = fetch.start("/comments", { method: "POST", body: "Well done" });

call.subscribe((state) => {
  if (state.status !== "failed" || state.reason !== "not-idempotent") return;
  if (confirm("Your comment may have arrived. Send it once more?")) void call.retry();
});
