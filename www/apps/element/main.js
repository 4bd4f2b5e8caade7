// The status element alone: one for the call, one for the whole client.
import { createFetch } from "steadfetch";
import "steadfetch/element";
import { options, reportUrl } from "../lib/backend.js";

const client = createFetch({ ...options, onCircuitOpen: "wait" });
const place = document.getElementById("app");
const make = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const ofCall = make("steadfetch-status", {});
const ofClient = make("steadfetch-status", { client });
let loads = 0;
const load = make("button", { type: "button", className: "primary" }, "Load report");
load.addEventListener("click", () => {
  ofCall.call?.cancel();
  ofCall.call = client.start(reportUrl(++loads));
});
const language = make("button", { type: "button", lang: "es" }, "En español");
language.addEventListener("click", () => {
  const spanish = place.lang !== "es";
  place.lang = spanish ? "es" : "en";
  language.lang = spanish ? "en" : "es";
  language.textContent = spanish ? "In English" : "En español";
});

place.append(
  make("p", { className: "buttons" }, load, language),
  make("div", { className: "panel" }, make("p", { className: "note" }, "Of the call"), ofCall),
  make(
    "div",
    { className: "panel" },
    make("p", { className: "note" }, "Of the client, when something is the matter"),
    ofClient,
  ),
);
