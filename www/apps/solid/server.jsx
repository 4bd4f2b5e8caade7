import { renderToStringAsync } from "solid-js/web";
import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import { App } from "./App.jsx";

export function render(first) {
  const client = createFetch(options);
  const outbox = createOutbox(client, outboxOptions);
  return renderToStringAsync(() => <App client={client} outbox={outbox} first={first} />);
}

export { generateHydrationScript as head } from "solid-js/web";
