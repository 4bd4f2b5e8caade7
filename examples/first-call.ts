import { createFetch } from "steadfetch";

const fetch = createFetch();
const response = await fetch("/report.json");
console.log(response.status, await response.text());
