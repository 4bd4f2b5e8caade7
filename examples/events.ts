import { createFetch } from "steadfetch";

const fetch = createFetch();

fetch.addEventListener("statechange", ({ detail }) => {
  console.log(detail.method, detail.url, detail.from, "->", detail.state.status);
});
fetch.addEventListener("waiting", ({ detail }) => console.log(`next attempt in ${detail.state.delay} ms`));
fetch.addEventListener("circuit", ({ detail }) => console.log(detail.key, detail.status));

const leave = fetch.subscribe(({ loading, waiting, offline, queued, nextRetryAt }) => {
  console.log({ loading, waiting, offline, queued, nextRetryAt });
});

await fetch("/report.json");
leave();
