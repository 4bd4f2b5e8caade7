import { fetch } from "./client.js";

const form = document.querySelector("form") as HTMLFormElement;
const key = crypto.randomUUID(); // of this order, however often the button is clicked

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await fetch("/orders", { method: "POST", body: new FormData(form), idempotencyKey: key });
  console.log(response.status);
});
