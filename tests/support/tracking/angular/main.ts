import { Component, provideZonelessChangeDetection, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { injectRequest } from "steadfetch/angular";
import { client, counting, place, wanted } from "../page.js";

@Component({
  selector: "app-report",
  template: `
    <p>{{ request.state().status }}, {{ heard() }} states</p>
    <button type="button" (click)="which.set(which() + 1)">Next</button>
  `,
})
class Report {
  readonly which = signal(1);
  readonly heard = signal(0);
  readonly init = counting(() => this.heard.set(this.heard() + 1));
  readonly request = injectRequest(
    () => client,
    () => wanted(this.which()),
    () => this.init,
  );
}

place.append(document.createElement("app-report"));
bootstrapApplication(Report, { providers: [provideZonelessChangeDetection()] });
