import { createFetch } from "steadfetch";
import { createSSRApp } from "vue";
import { renderToString } from "vue/server-renderer";
import { options } from "../lib/backend.js";
import App from "./App.vue";

export const render = (first) => renderToString(createSSRApp(App, { client: createFetch(options), first }));
