import { from, map, type Observable, takeWhile } from "rxjs";
import { type CallState, createFetch } from "steadfetch";

const client = createFetch();

/** Every state of the first run, until it is over. */
export function states(url: string): Observable<CallState> {
  const over = ["success", "failed", "exhausted", "cancelled"];
  return (from(client.start(url)) as Observable<CallState>).pipe(
    takeWhile(({ status }) => !over.includes(status), true),
  );
}

export const waiting: Observable<number> = from(client).pipe(map((snapshot) => snapshot.waiting));
