import { Component, CUSTOM_ELEMENTS_SCHEMA, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import "steadfetch/element";
import type { Call } from "steadfetch";
import { clicked, client, load, messages, place } from "../page";

@Component({
  selector: "app-report",
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <button type="button" (click)="call.set(load())">Load</button>
    <steadfetch-status [call]="call()" [messages]="messages" lang="en" />
    <steadfetch-status [client]="client" (steadfetch-try-now)="clicked($event)" />
  `,
})
class Report {
  readonly call = signal<Call | undefined>(undefined);
  readonly client = client;
  readonly load = load;
  readonly clicked = clicked;
  readonly messages = messages;
}

place.append(document.createElement("app-report"));
bootstrapApplication(Report, { providers: [provideZonelessChangeDetection()] });
