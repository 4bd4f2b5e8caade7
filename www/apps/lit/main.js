import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import "./app.js";

const app = document.createElement("small-app");
app.client = createFetch(options);
app.outbox = createOutbox(app.client, outboxOptions);
document.getElementById("app").append(app);
