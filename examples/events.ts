import { createFetch, type StateChange } from "steadfetch";

const fetch = createFetch();

fetch.addEventListener("statechange", ({ detail }: CustomEvent<StateChange>) => {
  console.log(detail.method, detail.url, detail.from, "->", detail.state.status);
});

const leave = fetch.subscribe(({ loading, waiting, offline, queued, nextRetryAt }) => {
  console.log({ loading, waiting, offline, queued, nextRetryAt });
});

await fetch("/report.json");
leave();
