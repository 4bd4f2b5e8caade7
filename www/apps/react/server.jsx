import { StrictMode } from "react";
import { renderToReadableStream } from "react-dom/server.edge";
import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import { App } from "./App.jsx";

/** The markup of the app, as it streams. */
export async function render(first) {
  const client = createFetch(options);
  const app = (
    <StrictMode>
      <App client={client} outbox={createOutbox(client, outboxOptions)} first={first} />
    </StrictMode>
  );
  return new Response(await renderToReadableStream(app)).text();
}
