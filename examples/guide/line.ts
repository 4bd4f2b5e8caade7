import type { CallState } from "steadfetch";
import { fetch } from "./client.js";

const place = document.querySelector("#line") as HTMLElement;
fetch.start("/report.json").subscribe((state) => {
  place.textContent = line(state);
});

function line(state: CallState): string {
  switch (state.status) {
    case "idle":
    case "loading":
      return "Loading";
    case "waiting":
      return `Trying again in ${Math.ceil(state.remaining / 1000)} s`;
    case "offline":
      return "You are offline";
    case "circuit-open":
      return state.settled ? "The server has problems" : "Waiting for the server";
    case "success":
      return "Here it is";
    case "failed":
    case "exhausted":
      return state.response ? `The server answered ${state.response.status}` : "No answer";
    case "cancelled":
      return "Cancelled";
  }
}
