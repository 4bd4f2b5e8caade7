import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { hydrate, mount } from "svelte";
import { options, outboxOptions } from "../lib/backend.js";
import App from "./App.svelte";

const target = document.getElementById("app");
const client = createFetch(options);
const outbox = createOutbox(client, outboxOptions);
const props = { client, outbox, first: Number(target.dataset.first ?? 0) };
(target.firstChild ? hydrate : mount)(App, { target, props });
