import { createFetch } from "steadfetch";

window.fetch = createFetch();

const response = await fetch("/report.json");
console.log(response.status);
