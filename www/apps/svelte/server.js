import { createFetch } from "steadfetch";
import { render as renderApp } from "svelte/server";
import { options } from "../lib/backend.js";
import App from "./App.svelte";

export const render = async (first) => (await renderApp(App, { props: { client: createFetch(options), first } })).body;
