// The circuit's panel: whether requests go through, and why not.
import { find, setText } from "./dom.js";
import { short } from "./sentence.js";

const { panel, name, detail, dots } = find({
  panel: "circuit",
  name: "circuit-name",
  detail: "circuit-detail",
  dots: "circuit-dots",
});
const CLOSED = { status: "closed", openUntil: null, consecutiveFailures: 0 };
const REASONS = {
  consecutive: ({ consecutiveFailures }) => `${consecutiveFailures} requests in a row failed.`,
  "failure-rate": ({ failureRate, calls }) =>
    `${Math.round(failureRate * calls)} of the last ${calls} requests failed.`,
  "probe-failed": () => "The last check failed too.",
  "retry-after": () => "The server asked for a pause.",
};

/** `paused`: a call waits because the server said so. */
export function drawCircuit(circuit = CLOSED, paused, now) {
  panel.dataset.status = circuit.status;
  panel.dataset.failures = circuit.consecutiveFailures;
  const [title, text] = words(circuit, paused, now);
  setText(name, title);
  setText(detail, text);
  for (const [i, dot] of [...dots.children].entries()) dot.classList.toggle("on", i < circuit.consecutiveFailures);
}

function words(circuit, paused, now) {
  if (circuit.status === "half-open") return ["Half-open", "One request may go, to see if the server is back."];
  if (circuit.status === "open")
    return [`Open: next check in ${short(circuit.openUntil - now)}`, REASONS[circuit.reason]?.(circuit) ?? ""];
  const failures = circuit.consecutiveFailures;
  const passing = paused ? "The server asked for a pause." : "Requests go through.";
  return ["Closed", `${passing} ${failures === 0 ? "No failure" : `${failures} of 5 failures`} in a row.`];
}
