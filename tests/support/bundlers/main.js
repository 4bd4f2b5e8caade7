import { createFetch } from "steadfetch";

const place = document.getElementById("app");
const client = createFetch({ retry: { delay: 50, jitter: "none" } });
const address = location.hash.slice(1);
const call = client.start(address);
const told = [];
call.subscribe(({ status }) => {
  if (told.at(-1) !== status) told.push(status);
});
call.then(
  async (response) => {
    // Of entries that come later, when they are wanted; one has a core of its own.
    const { inspect } = await import("steadfetch/devtools");
    const { createOutbox } = await import("steadfetch/outbox");
    const outbox = createOutbox(client, { name: address });
    const { response: delivered } = await outbox.send(`${address}/outbox`, { method: "POST", body: "kept" });
    const words = [await response.text(), typeof inspect, await (await delivered).text()];
    place.textContent = `${told.join(" > ")}: ${words.join(", ")}`;
  },
  (error) => {
    place.textContent = String(error);
  },
);
