import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { render as renderApp } from "svelte/server";
import { options, outboxOptions } from "../lib/backend.js";
import App from "./App.svelte";

export async function render(first) {
  const client = createFetch(options);
  const outbox = createOutbox(client, outboxOptions);
  return (await renderApp(App, { props: { client, outbox, first } })).body;
}
