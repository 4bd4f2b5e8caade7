import { createFetch } from "steadfetch";

const fetch = createFetch();
const response = await fetch("/orders", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ item: 7 }),
  idempotencyKey: "auto",
});
console.log(response.status);
