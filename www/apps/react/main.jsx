import { StrictMode } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

const place = document.getElementById("app");
const app = (
  <StrictMode>
    <App client={createFetch(options)} first={Number(place.dataset.first ?? 0)} />
  </StrictMode>
);
if (place.firstChild) hydrateRoot(place, app);
else createRoot(place).render(app);
