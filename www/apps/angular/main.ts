import { provideZonelessChangeDetection } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import { App, CLIENT } from "./app";

const place = document.getElementById("app") as HTMLElement;
place.append(document.createElement("small-app"));
const providers = [provideZonelessChangeDetection(), { provide: CLIENT, useValue: createFetch(options) }];
bootstrapApplication(App, { providers }).catch(console.error);
