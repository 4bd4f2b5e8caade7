import { fetch } from "./client.js";

const view = fetch.extend({}); // the circuits of the page, its calls for itself

export const load = () => view("/report.json");
export const leave = () => view.dispose(); // cancels what this view has asked for, and nothing else
