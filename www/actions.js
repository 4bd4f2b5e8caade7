// The buttons a state offers. They keep their places, and the focus is never lost with a button that leaves.
import { find } from "./dom.js";

const { tryNow, tryAgain, cancel, report, actions } = find({
  tryNow: "try-now",
  tryAgain: "try-again",
  cancel: "cancel",
  report: "report",
  actions: "actions",
});

const OFFERED = {
  idle: [],
  loading: [tryNow, cancel], // "Try now" stays in its place, but rests
  waiting: [tryNow, cancel],
  offline: [tryNow, cancel],
  "circuit-open": [tryNow, cancel],
  success: [],
  failed: [tryAgain],
  exhausted: [tryAgain],
  cancelled: [tryAgain],
};

export function showActions(state) {
  const offered = state.settled ? [tryNow] : OFFERED[state.status];
  const focused = document.activeElement;
  for (const button of [tryNow, tryAgain, cancel]) button.hidden = !offered.includes(button);
  const rests = state.status === "loading" || state.probeInFlight === true;
  tryNow.setAttribute("aria-disabled", String(rests));
  if (actions.contains(focused) && focused.hidden) (offered[0] ?? report).focus();
}

/** Wires the buttons to the present call. */
export function onAction(present) {
  tryNow.addEventListener("click", () => {
    const call = present();
    if (tryNow.ariaDisabled === "true") return;
    if (call.state.settled) again(call);
    else call.retryNow();
  });
  tryAgain.addEventListener("click", () => again(present()));
  cancel.addEventListener("click", () => present().cancel());
  // A key that is held down presses one button, not the one that takes its place too.
  actions.addEventListener("keydown", (event) => event.repeat && event.key === "Enter" && event.preventDefault());
}

// The state tells how it goes; the promise is for code that needs the answer.
const again = (call) => call.retry().catch(() => {});
