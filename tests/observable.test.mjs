// Calls and clients as Observables, with the real RxJS.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { from, lastValueFrom, map, takeWhile, toArray } from "rxjs";
import { load } from "./support/packed.mjs";
import { startServer } from "./support/server.mjs";

let server;
let createFetch;
before(async () => {
  server = await startServer();
  ({ createFetch } = await load());
});
after(() => server.close());

const QUICK = { delay: 20, jitter: "none" };
const pending = ({ status }) => !["success", "failed", "exhausted", "cancelled"].includes(status);

describe("from() of RxJS", () => {
  test("takes a call as its states, from the present one on", async () => {
    server.script("/a", [503, 200]);
    const call = createFetch({ retry: QUICK }).start(`${server.url}/a`);
    const states = from(call).pipe(
      takeWhile(pending, true),
      map(({ status }) => status),
      toArray(),
    );
    assert.deepEqual(await lastValueFrom(states), ["loading", "waiting", "loading", "success"]);
  });

  test("does not end with a run, since there may be another", async () => {
    server.script("/b", [200]);
    const call = createFetch().start(`${server.url}/b`);
    const runs = [];
    let ended = false;
    const subscription = from(call).subscribe({
      next: ({ status, run }) => runs.push(`${run} ${status}`),
      complete: () => {
        ended = true;
      },
    });
    await call;
    await call.retry();
    subscription.unsubscribe();
    assert.deepEqual([runs, ended], [["1 loading", "1 success", "2 loading", "2 success"], false]);
  });

  test("is told nothing after unsubscribe()", async () => {
    server.script("/c", [200]);
    const call = createFetch().start(`${server.url}/c`);
    const told = [];
    from(call)
      .subscribe(({ status }) => told.push(status))
      .unsubscribe();
    await call;
    assert.deepEqual(told, ["loading"]);
  });

  test("takes a client as its snapshots", async () => {
    server.script("/d", [200]);
    const client = createFetch();
    const loading = [];
    const subscription = from(client).subscribe((snapshot) => loading.push(snapshot.loading));
    await client(`${server.url}/d`);
    await new Promise((resolve) => setTimeout(resolve));
    subscription.unsubscribe();
    assert.deepEqual(loading, [0, 1, 0]);
  });
});
