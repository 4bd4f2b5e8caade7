import { isOutboxError } from "steadfetch/outbox";
import { outbox } from "./outbox.js";

const form = document.querySelector("form") as HTMLFormElement;
const list = document.querySelector("#pending") as HTMLElement;
const note = document.querySelector("#note") as HTMLElement;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = String(new FormData(form).get("text"));
  try {
    await outbox.send("/comments", { method: "POST", body: text, meta: { text } });
    form.reset(); // it is stored, so the form may forget it
  } catch (error) {
    if (!isOutboxError(error)) throw error;
    note.textContent = `Not stored: ${error.code}`; // the text is still in the form
  }
});

outbox.subscribe(({ entries }) => {
  const lines = entries.map(({ meta, state }) => {
    const left = state.status === "waiting" ? ` ${Math.ceil(state.remaining / 1000)} s` : "";
    const line = document.createElement("li");
    line.textContent = `${meta?.text}: ${state.status}${left}`;
    return line;
  });
  list.replaceChildren(...lines);
});
