import { StrictMode } from "react";
import { renderToReadableStream } from "react-dom/server.edge";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

/** The markup of the app, as it streams. */
export async function render(first) {
  const app = (
    <StrictMode>
      <App client={createFetch(options)} first={first} />
    </StrictMode>
  );
  return new Response(await renderToReadableStream(app)).text();
}
