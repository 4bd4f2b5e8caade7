import { defer, finalize, from, map, type Observable, takeWhile } from "rxjs";
import { type CallState, createFetch } from "steadfetch";

const client = createFetch();
const isOver = (state: CallState) =>
  ["success", "failed", "exhausted", "cancelled"].includes(state.status) ||
  (state.status === "circuit-open" && state.settled);

/** Begins with a subscription, has every state until the call is over, and cancels what is unsubscribed from before. */
export const states = (url: string): Observable<CallState> =>
  defer(() => {
    const call = client.start(url);
    return (from(call) as Observable<CallState>).pipe(
      takeWhile((state) => !isOver(state), true),
      finalize(() => call.cancel()),
    );
  });

export const waiting: Observable<number> = from(client).pipe(map((snapshot) => snapshot.waiting));
