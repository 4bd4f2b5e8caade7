import { createFetch } from "steadfetch";
import { mount } from "svelte";
import { options } from "../lib/backend.js";
import App from "./App.svelte";

mount(App, { target: document.getElementById("app"), props: { client: createFetch(options) } });
