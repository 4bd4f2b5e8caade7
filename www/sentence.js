// A call's state as a person wants to read it. Pure: the same state and time give the same words.

/** @returns {{ headline: string, detail: string }} */
export function sentence(state, now, span = short) {
  const left = () => span(Math.max(0, state.retryAt - now));
  switch (state.status) {
    case "idle":
      return {
        headline: "Nothing loaded yet",
        detail: "Choose what the server does, then load the report.",
      };
    case "loading":
      return state.probe
        ? {
            headline: `Checking… (${attempt(state)})`,
            detail: "One request goes first, to see if the server is back.",
          }
        : { headline: `Loading… (${attempt(state)})`, detail: lastFailure(state) };
    case "waiting":
      return state.attempt === 0
        ? {
            headline: `Starting in ${left()}`,
            detail: "The server asked us to wait before the next request.",
          }
        : {
            headline: `Trying again in ${left()} (${attempt(state, 1)})`,
            detail: waitReason(state),
          };
    case "offline":
      return { headline: "You are offline", detail: "We will go on when you are back." };
    case "circuit-open":
      return {
        headline: `Problems connecting: ${nextCheck(state, now, span)}`,
        detail: state.settled
          ? "Too many requests failed, so nothing more is sent by itself."
          : "Too many requests failed, so the server gets a pause.",
      };
    case "success":
      return { headline: "Report loaded", detail: tries(state) };
    case "failed":
      return {
        headline: "Could not load",
        detail: FAILED[state.reason]?.(state) ?? "Something unexpected happened.",
      };
    case "exhausted":
      return { headline: "Could not load", detail: EXHAUSTED[state.reason](state, span) };
    case "cancelled":
      return { headline: "Cancelled", detail: "Nothing more will be sent." };
  }
}

/** The same, to be spoken once when the state begins. */
export function spoken(state, now) {
  const { headline, detail } = sentence(state, now, long);
  return `${headline}. ${detail}`.replace("…", "").trim();
}

function failureText({ kind, status, duration }) {
  if (kind === "status") return `the server answered ${status}`;
  if (kind === "timeout") return `no answer within ${short(Math.floor(duration / 1000) * 1000)}`;
  return "the connection broke";
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

export const short = (ms) => amount(ms, (n, unit) => `${n}\u00a0${unit === "second" ? "s" : "min"}`);
export const long = (ms) => amount(ms, (n, unit) => `${n} ${unit}${n === 1 ? "" : "s"}`);

function amount(ms, say) {
  const seconds = Math.ceil(ms / 1000 - 0.05);
  return seconds < 120 ? say(Math.max(1, seconds), "second") : say(Math.round(seconds / 60), "minute");
}

const attempt = (state, ahead = 0) => `attempt ${state.attempt + ahead} of ${state.maxAttempts}`;

function tries({ attempt, run }) {
  if (attempt > 1) return `It took ${attempt} attempts.`;
  return run > 1 ? "It worked this time." : "It worked the first time.";
}

function lastFailure({ failures, attempt }) {
  return attempt > 1 && failures.length > 0 ? `Last time, ${failureText(failures.at(-1))}.` : "";
}

function waitReason({ cause, source }) {
  const asked = source === "retry-after" || source === "rate-limit";
  return `${capital(failureText(cause))}${asked ? " and asked us to wait" : ""}.`;
}

function nextCheck({ probeInFlight, retryAt, settled }, now, span) {
  if (probeInFlight) return "checking now";
  if (retryAt <= now) return "ready for a check";
  return settled ? `try again in ${span(retryAt - now)}` : `next check in ${span(retryAt - now)}`;
}

const FAILED = {
  status: ({ response }) =>
    response.status === 404
      ? "The server answered 404: there is no such report. Asking again by ourselves would not help."
      : `The server answered ${response.status}. Asking again by ourselves would not help.`,
  "invalid-request": () => "The request itself is not valid.",
  offline: () => "You are offline, so nothing was sent.",
};

const EXHAUSTED = {
  limit: ({ attempt, failures }) =>
    `${capital(failureText(failures.at(-1)))}. ${attempt === 1 ? "We tried once" : `We tried ${attempt} times`} and stopped.`,
  budget: ({ failures }) =>
    `${capital(failureText(failures.at(-1)))}. There were many retries lately, so we stopped early.`,
  "total-timeout": () => "It took too long altogether.",
  "retry-after-too-long": ({ retryAt, since }, span) => `The server asked to come back in ${span(retryAt - since)}.`,
};
