import { StrictMode } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import { App } from "./App.jsx";

const place = document.getElementById("app");
const client = createFetch(options);
const app = (
  <StrictMode>
    <App client={client} outbox={createOutbox(client, outboxOptions)} first={Number(place.dataset.first ?? 0)} />
  </StrictMode>
);
if (place.firstChild) hydrateRoot(place, app);
else createRoot(place).render(app);
