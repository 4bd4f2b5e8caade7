import { createFetch } from "steadfetch";

const fetch = createFetch({ breaker: { share: "tabs" }, onCircuitOpen: "wait" });
const response = await fetch("/report.json");
console.log(response.status);
