// The scripted server: a fetch that answers from a list.
import type * as Api from "../testing.js";
import { answerOf, decide, mustBeStep, respond } from "./steps.ts";

/** What a browser's fetch rejects with where there is no answer. */
const dropped = (): TypeError => new TypeError("Failed to fetch");

/** The outcome of `work`, or the signal's reason as soon as it is aborted. */
function until<T>(signal: AbortSignal, work: (resolve: (value: T) => void, reject: (error: unknown) => void) => void) {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    const over = (): void => signal.removeEventListener("abort", abort);
    work(
      (value) => {
        over();
        resolve(value);
      },
      (error) => {
        over();
        reject(error);
      },
    );
  });
}

async function answer(step: Api.Step, request: Request, earlier: readonly Request[]): Promise<Response> {
  const { signal } = request;
  const decided = await until<Api.FixedStep>(signal, (resolve, reject) => {
    decide(step, request, earlier).then(resolve, reject);
  });
  if (decided === "drop") throw dropped();
  if (decided === "stall") return until(signal, () => {});
  const answer = answerOf(decided);
  if (answer.delay > 0) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await until<void>(signal, (resolve) => {
        timer = setTimeout(resolve, answer.delay);
      });
    } finally {
      clearTimeout(timer);
    }
  }
  return respond(answer, request);
}

export const script: typeof Api.script = (steps) => {
  if (!Array.isArray(steps) || steps.length === 0) {
    throw new TypeError("steadfetch/testing: script() takes an array of at least one step");
  }
  // A list of its own: what becomes of the caller's does not matter.
  const all: readonly Api.Step[] = [...steps];
  all.forEach((step, i) => {
    mustBeStep(step, `steadfetch/testing: step ${i + 1}`);
  });
  const requests: Request[] = [];

  const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    // Takes the body of a request that is given, as the real one does.
    const request = new Request(input, init);
    if (request.signal.aborted) throw request.signal.reason;
    const earlier = [...requests];
    requests.push(request.clone());
    return answer(all[Math.min(earlier.length, all.length - 1)] as Api.Step, request, earlier);
  };
  return Object.assign(fetch, { requests });
};
