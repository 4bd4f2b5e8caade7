import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

const client = createFetch(options);
createRoot(document.getElementById("app")).render(
  <StrictMode>
    <App client={client} />
  </StrictMode>,
);
