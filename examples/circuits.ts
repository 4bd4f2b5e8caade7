import { createFetch } from "steadfetch";

const fetch = createFetch({ onCircuitOpen: "wait" });

const leave = fetch.circuits.subscribe((circuits) => {
  for (const { key, status, remaining } of circuits) console.log(key, status, `${remaining} ms left`);
});
await fetch("/report.json");

const release = fetch.circuits.isolate("https://api.example"); // nothing is sent there any more
release(); // until now; an outage goes on until its time is over
fetch.circuits.reset(); // closes every circuit that failures have opened
leave();
