import { createFetch } from "steadfetch";

const call = createFetch().start("/report.json");

call.subscribe((state) => {
  const left = state.status === "waiting" ? ` ${Math.ceil(state.remaining / 1000)} s` : "";
  document.querySelector("#status")?.replaceChildren(state.status + left);
  if (state.status === "success") state.response.text().then(console.log, console.error);
});
document.querySelector("#cancel")?.addEventListener("click", () => call.cancel());
document.querySelector("#retry")?.addEventListener("click", () => {
  if (!call.retryNow()) void call.retry();
});
