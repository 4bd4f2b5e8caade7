import { createFetch } from "steadfetch";

const fetch = createFetch();
const response = await fetch("/report.json");
if (!response.ok) throw new Error(`The server answered ${response.status}`);
const report: { title: string } = await response.json();
console.log(report.title);
