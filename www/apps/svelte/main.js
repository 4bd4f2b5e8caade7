import { createFetch } from "steadfetch";
import { hydrate, mount } from "svelte";
import { options } from "../lib/backend.js";
import App from "./App.svelte";

const target = document.getElementById("app");
const props = { client: createFetch(options), first: Number(target.dataset.first ?? 0) };
(target.firstChild ? hydrate : mount)(App, { target, props });
