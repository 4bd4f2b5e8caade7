import { Component, computed, input } from "@angular/core";
import { createFetch } from "steadfetch";
import { injectRequest } from "steadfetch/angular";
import { buttons } from "./buttons";
import { sentence } from "./sentence";

const client = createFetch({ onCircuitOpen: "wait", retry: { delay: 2000, jitter: "equal" } });

@Component({
  selector: "app-report",
  template: `
    <p>{{ text() }}</p>
    <button type="button" [attr.aria-disabled]="!can().tryNow && !can().tryAgain" (click)="again()">
      {{ can().tryAgain ? "Try again" : "Try now" }}
    </button>
    <button type="button" [attr.aria-disabled]="!can().cancel" (click)="request.cancel()">Cancel</button>
  `,
})
export class Report {
  readonly url = input.required<string>();
  readonly request = injectRequest(() => client, this.url);
  readonly text = computed(() => sentence(this.request.state()));
  readonly can = computed(() => buttons(this.request.state()));

  again() {
    if (this.can().tryAgain) this.request.retry();
    else this.request.retryNow();
  }
}
