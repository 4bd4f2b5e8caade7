import { fetch } from "./client.js";

const banner = document.querySelector("#banner") as HTMLElement;

fetch.subscribe(({ online, offline, openCircuits }) => {
  if (!online) banner.textContent = `You are offline, ${offline} waiting`;
  else if (openCircuits.length > 0) banner.textContent = `${openCircuits[0].key} has problems`;
  banner.hidden = online && openCircuits.length === 0;
});
