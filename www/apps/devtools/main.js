// The inspector, open on a client that has something to do.
import { createFetch } from "steadfetch";
import { options, reportUrl } from "../lib/backend.js";

const client = createFetch({ ...options, budget: {}, onCircuitOpen: "wait", trace: true });
const place = document.getElementById("app");
let loads = 0;

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

const load = () => client.start(reportUrl(++loads));
const line = document.createElement("p");
line.className = "buttons";
const one = button("Load report", load);
one.className = "primary";
line.append(
  one,
  button("Load five", () => {
    for (let i = 0; i < 5; i++) load();
  }),
);
place.append(line);

const { inspect } = await import("steadfetch/devtools");
const target = document.createElement("div");
target.className = "inspector";
place.append(target);
inspect(client, { target });
