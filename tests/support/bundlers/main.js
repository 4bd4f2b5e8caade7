import { createFetch } from "steadfetch";

const place = document.getElementById("app");
const call = createFetch({ retry: { delay: 50, jitter: "none" } }).start(location.hash.slice(1));
const told = [];
call.subscribe(({ status }) => {
  if (told.at(-1) !== status) told.push(status);
});
call.then(
  async (response) => {
    // Of an entry that comes later, when it is wanted.
    const { inspect } = await import("steadfetch/devtools");
    place.textContent = `${told.join(" > ")}: ${await response.text()}, ${typeof inspect}`;
  },
  (error) => {
    place.textContent = String(error);
  },
);
