import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { createApp, createSSRApp } from "vue";
import { options, outboxOptions } from "../lib/backend.js";
import App from "./App.vue";

const place = document.getElementById("app");
const create = place.firstChild ? createSSRApp : createApp;
const client = createFetch(options);
const outbox = createOutbox(client, outboxOptions);
create(App, { client, outbox, first: Number(place.dataset.first ?? 0) }).mount(place);
