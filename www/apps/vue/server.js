import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { createSSRApp } from "vue";
import { renderToString } from "vue/server-renderer";
import { options, outboxOptions } from "../lib/backend.js";
import App from "./App.vue";

export function render(first) {
  const client = createFetch(options);
  const outbox = createOutbox(client, outboxOptions);
  return renderToString(createSSRApp(App, { client, outbox, first }));
}
