import { createFetch } from "steadfetch";
import { createApp, createSSRApp } from "vue";
import { options } from "../lib/backend.js";
import App from "./App.vue";

const place = document.getElementById("app");
const create = place.firstChild ? createSSRApp : createApp;
create(App, { client: createFetch(options), first: Number(place.dataset.first ?? 0) }).mount(place);
