import { createFetch } from "steadfetch";
import { createApp } from "vue";
import { options } from "../lib/backend.js";
import App from "./App.vue";

createApp(App, { client: createFetch(options) }).mount("#app");
