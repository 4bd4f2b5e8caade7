// What the visitor chose, read from the two forms.

export const FAULTS = {
  none: "The server answers with the report.",
  500: "The server answers 500 Internal Server Error.",
  503: "The server answers 503 Service Unavailable.",
  429: "The server answers 429 Too Many Requests.",
  404: "The server answers 404 Not Found.",
  drop: "The connection breaks before an answer comes.",
  stall: "No answer comes, so the attempt runs into its time limit.",
  slow: "The answer takes 4 seconds.",
};

/** The plan for the chaos server. */
export function readPlan(form) {
  const data = new FormData(form);
  return {
    fault: data.get("fault"),
    times: data.get("times") === "every" ? null : Number(data.get("times")),
    retryAfter: Number(data.get("retryAfter") ?? 0),
    offline: data.has("offline"),
  };
}

/** The options of the client. */
export function readOptions(form) {
  const data = new FormData(form);
  return {
    retry: {
      limit: Number(data.get("limit")),
      delay: Number(data.get("delay")),
      jitter: data.get("jitter"),
    },
    timeout: Number(data.get("timeout")),
    onCircuitOpen: data.get("onCircuitOpen"),
  };
}

/** The same options as the line of code a developer would write. */
export const asCode = ({ retry, timeout, onCircuitOpen }) => `createFetch({
  retry: {
    limit: ${retry.limit},
    delay: ${retry.delay},
    jitter: "${retry.jitter}",
  },
  timeout: ${timeout},
  onCircuitOpen: "${onCircuitOpen}",
  budget: false,
})`;
