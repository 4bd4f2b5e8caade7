import { hydrate, render } from "solid-js/web";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

const place = document.getElementById("app");
const client = createFetch(options);
const app = () => <App client={client} first={Number(place.dataset.first ?? 0)} />;
if (place.firstChild) hydrate(app, place);
else render(app, place);
