import { provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { createFetch } from "steadfetch";
import { createOutbox } from "steadfetch/outbox";
import { options, outboxOptions } from "../lib/backend.js";
import { App, CLIENT, OUTBOX } from "./app";

const place = document.getElementById("app") as HTMLElement;
place.append(document.createElement("small-app"));
const client = createFetch(options);
const outbox = createOutbox<string>(client, outboxOptions);
const providers = [
  provideZonelessChangeDetection(),
  { provide: CLIENT, useValue: client },
  { provide: OUTBOX, useValue: outbox },
];
bootstrapApplication(App, { providers }).catch(console.error);
