import { hydrate, render } from "solid-js/web";
import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import { App } from "./App.jsx";

const place = document.getElementById("app");
const client = createFetch(options);
const outbox = createOutbox(client, outboxOptions);
const app = () => <App client={client} outbox={outbox} first={Number(place.dataset.first ?? 0)} />;
if (place.firstChild) hydrate(app, place);
else render(app, place);
