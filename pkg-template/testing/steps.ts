// The steps of a script: whether they are any, and the Response that one stands for.
import type { Answer, FixedStep, Step } from "../testing.js";

/** Statuses that have no body, as the Fetch standard says. */
const NULL_BODY = [204, 205, 304];

const isAnswer = (step: unknown): step is Answer =>
  typeof step === "object" && step !== null && !Array.isArray(step) && !(step instanceof Promise);

/** What is no step would else be a network failure, and be retried. */
export function mustBeStep(step: unknown, name: string): void {
  if (typeof step === "function" || step === "drop" || step === "stall") return;
  if (typeof step === "string") throw new TypeError(`${name} is "${step}"; the words are "drop" and "stall"`);
  if (typeof step !== "number" && !isAnswer(step)) {
    throw new TypeError(`${name} must be a status, an answer, "drop", "stall" or a function`);
  }
  const { status, delay, retryAfter, headers } = answerOf(step);
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`${name}: status must be an integer from 200 to 599`);
  }
  if (!(delay >= 0 && delay < Infinity)) throw new RangeError(`${name}: delay must be a number of milliseconds`);
  const known = ["undefined", "number", "object"].includes(typeof retryAfter) && retryAfter !== null;
  if (!known || !Number.isFinite(Number(retryAfter ?? 0))) {
    throw new TypeError(`${name}: retryAfter must be a number of seconds or a Date`);
  }
  try {
    new Headers(headers);
  } catch (error) {
    throw new TypeError(`${name}: ${(error as Error).message}`);
  }
}

/** The same with its defaults. */
export function answerOf(step: number | Answer): Answer & { status: number; delay: number } {
  const answer = typeof step === "number" ? { status: step } : step;
  return { ...answer, status: answer.status ?? 200, delay: answer.delay ?? 0 };
}

/** Decides a step that is a function. */
export async function decide(step: Step, request: Request, earlier: readonly Request[]): Promise<FixedStep> {
  if (typeof step !== "function") return step;
  const decided = await step(request, earlier);
  mustBeStep(decided, "steadfetch/testing: what the function of a step returned");
  return decided;
}

export function respond(answer: Answer & { status: number }, { method, url }: Request): Response {
  const headers = new Headers(answer.headers);
  const { retryAfter, status } = answer;
  if (retryAfter !== undefined) {
    headers.set("Retry-After", typeof retryAfter === "number" ? String(retryAfter) : retryAfter.toUTCString());
  }
  const body = NULL_BODY.includes(status) || method === "HEAD" ? null : (answer.body ?? null);
  const response = new Response(body, { status, headers });
  // One that is made by hand has none, and libraries put it into their errors.
  Object.defineProperty(response, "url", { value: url });
  return response;
}
