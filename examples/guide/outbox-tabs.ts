import { outbox } from "./outbox.js";

const badge = document.querySelector("#badge") as HTMLElement;
const said = document.querySelector("#said") as HTMLElement;

outbox.subscribe(({ count }) => {
  badge.textContent = count ? `${count} not sent yet` : "All is sent";
});
outbox.addEventListener("delivered", ({ detail }) => {
  said.textContent = `Sent: ${detail.meta?.text}`;
});
