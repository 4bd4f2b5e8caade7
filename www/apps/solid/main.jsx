import { render } from "solid-js/web";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App } from "./App.jsx";

const client = createFetch(options);
render(() => <App client={client} />, document.getElementById("app"));
