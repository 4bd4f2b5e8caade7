import { renderToStringAsync } from "solid-js/web";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

export function render(first) {
  const client = createFetch(options);
  return renderToStringAsync(() => <App client={client} first={first} />);
}

export { generateHydrationScript as head } from "solid-js/web";
