import { createFetch } from "steadfetch";
import { buttons } from "./buttons.js";
import { sentence } from "./sentence.js";

const fetch = createFetch({ onCircuitOpen: "wait", retry: { delay: 2000, jitter: "equal" } });
const call = fetch.start("/report.json");

const find = (id: string) => document.getElementById(id) as HTMLElement;
const [text, live, again, cancel] = [find("text"), find("live"), find("again"), find("cancel")] as const;
let announced = "";

call.subscribe((state) => {
  text.textContent = sentence(state);
  if (state.status !== announced) live.textContent = sentence(state); // once, and not each second
  announced = state.status;
  const can = buttons(state);
  if (can.tryNow || can.tryAgain) again.textContent = can.tryNow ? "Try now" : "Try again";
  again.setAttribute("aria-disabled", String(!can.tryNow && !can.tryAgain));
  cancel.setAttribute("aria-disabled", String(!can.cancel));
  if (state.status === "success") state.response.text().then(console.log, console.error);
});
again.addEventListener("click", () => {
  const can = buttons(call.state);
  if (can.tryNow) call.retryNow();
  if (can.tryAgain) void call.retry();
});
cancel.addEventListener("click", () => call.cancel());
