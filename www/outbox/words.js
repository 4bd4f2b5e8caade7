// What is going on with a comment, as a person wants to read it. Pure: the same entry and time give the same words.
import { long, short } from "../sentence.js";

/** `span` says how long something takes. */
export function sentence({ state }, now, span = short) {
  const { status, attempts } = state;
  const again = attempts > 0 ? "Sent again" : "Sent";
  switch (status) {
    case "queued":
      return "Next in line";
    case "sending":
      return attempts > 1 ? `Sending… (attempt ${attempts})` : "Sending…";
    case "offline":
      return "Kept here until you are online";
    case "waiting":
      if (state.retryAt === null) return "The server has problems, another request checks it now";
      return `${again} in ${span(Math.max(0, state.retryAt - now))}, ${CAUSES[state.cause](state)}`;
    case "rejected":
      return state.response ? `The server answered ${state.response.status}` : "It cannot be sent";
  }
}

const CAUSES = {
  backoff: ({ failure }) => (failure?.status ? `the server answered ${failure.status}` : "the last try failed"),
  "retry-after": () => "the server asked for that",
  "circuit-open": () => "the server gets a pause",
  storage: () => "the browser's storage has problems",
};

/** The same, to be spoken once when it begins; what soon passes is not. */
export function spoken(entry, now) {
  if (!["offline", "waiting", "rejected"].includes(entry.state.status)) return "";
  return `${excerpt(entry)}: ${sentence(entry, now, long)}.`;
}

export const excerpt = ({ meta }) => (meta.text.length > 40 ? `${meta.text.slice(0, 39)}…` : meta.text);

/** How long ago it was written. */
export function written({ createdAt }, now) {
  const minutes = Math.floor((now - createdAt) / 60_000);
  if (minutes < 1) return "Written just now";
  if (minutes < 120) return `Written ${minutes} min ago`;
  if (minutes < 48 * 60) return `Written ${Math.floor(minutes / 60)} hours ago`;
  return `Written ${Math.floor(minutes / 1440)} days ago`;
}

export function summary({ count, paused, sender, durable }) {
  if (count === 0) return "Nothing: the server has all that you posted.";
  const what = count === 1 ? "1 comment waits" : `${count} comments wait`;
  const where = durable ? "in this browser" : "in this tab, since the browser refuses to store them";
  if (paused) return `${what} ${where}.`;
  return `${what} ${where}. ${sender ? "This tab sends." : "Another tab sends."}`;
}

/** What a comment was to the server. */
export const arrival = ({ requests }) =>
  requests === 1 ? "Sent once, taken once" : `Sent ${requests} times, taken once`;
