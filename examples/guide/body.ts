import { createFetch } from "steadfetch";

const fetch = createFetch({ covers: "body", timeout: 60_000 });
const response = await fetch("/report.json");
console.log(await response.text());
