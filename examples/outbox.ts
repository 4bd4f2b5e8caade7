import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";

const outbox = createOutbox<string>(createFetch());

outbox.subscribe(({ entries }) => {
  for (const { meta, state } of entries) console.log(meta, "is", state.status);
});
outbox.addEventListener("rejected", ({ detail }) => console.log(detail.meta, "was refused"));

const entry = await outbox.send("/comments", { method: "POST", body: "Well done", meta: "my comment" });
console.log("stored"); // from here on it survives a reload
const response = await entry.response; // while this page lives
console.log(response.status);
