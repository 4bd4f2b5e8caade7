// What a client does everywhere: a retry, a wait that is cancelled, a circuit that opens and closes. `exercise()` refers to
// nothing but its arguments and globals, so that pages, workers and classic scripts can all have it.

/** What `exercise()` gives where everything works. */
export const WORKS = {
  retried: ["loading", "waiting", "loading", "success", 200],
  waited: ["loading", "waiting", "cancelled", "AbortError"],
  down: [503, 503, "CircuitOpenError"],
  open: ["open"],
  up: ["circuit-open", "loading", "success", 200],
  closed: ["closed"],
};

/** How often it asks for each path. */
export const HITS = { "/retried": 2, "/waits": 1, "/down": 2, "/up": 1 };

/** Gives the server what it asks for. */
export function scriptExercise(server) {
  server.script("/retried", [{ status: 503, retryAfter: 0 }, 200]);
  server.script("/waits", 503);
  server.script("/down", 503);
  server.script("/up", 200);
}

export async function exercise({ createFetch }, api) {
  const client = createFetch({
    retry: { jitter: "none", delay: 20 },
    // Not everywhere are there others to share with. The wait that is cancelled is the first of the three failures.
    breaker: { share: "tabs", consecutiveFailures: 3, minimumCalls: 1_000, halfOpenAfter: 1_500 },
  });
  const outcome = (promise) =>
    promise.then(
      ({ status }) => status,
      ({ name }) => name,
    );
  /** Its states and its outcome, once it is over. */
  const story = async (call) => {
    const states = [];
    call.subscribe(({ status }) => {
      if (states.at(-1) !== status) states.push(status);
    });
    const end = await outcome(call);
    return [...states, end];
  };
  const circuits = () => client.circuits.getSnapshot().map(({ status }) => status);

  const retried = await story(client.start(`${api}/retried`));

  const waits = client.start(`${api}/waits`, { retry: { delay: 60_000, backoffLimit: 60_000 } });
  waits.subscribe(({ status }) => {
    if (status === "waiting") waits.cancel();
  });
  const waited = await story(waits);

  const down = [];
  for (let i = 0; i < 3; i++) down.push(await outcome(client(`${api}/down`, { retry: false })));
  const open = circuits();
  const up = await story(client.start(`${api}/up`, { onCircuitOpen: "wait" }));
  const closed = circuits();
  client.dispose();
  return { retried, waited, down, open, up, closed };
}
