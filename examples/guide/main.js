import { createFetch } from "steadfetch";

const fetch = createFetch();
const response = await fetch("/report.json");
document.querySelector("#report").textContent = await response.text();
