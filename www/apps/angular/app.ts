import { Component, computed, effect, InjectionToken, inject, input, signal } from "@angular/core";
import type { Call, SteadFetch } from "steadfetch";
import { injectCall, injectCircuits, injectClient, injectRequest } from "steadfetch/angular";
import { reportUrl } from "../lib/backend.js";
import { circuitLine, clientLine, detail, headline, offers, rendered } from "../lib/words.js";

export const CLIENT = new InjectionToken<SteadFetch>("the client");

/** Shows the status alone: a tick does not run it anew. */
@Component({ selector: "small-badge", template: `<p class="badge">{{ status() }}</p>` })
export class Badge {
  readonly call = input<Call>();
  private readonly state = injectCall(this.call);
  readonly status = computed(() => this.state().status);

  constructor() {
    effect(() => {
      this.state();
      rendered("badge");
    });
  }
}

@Component({
  selector: "small-report",
  imports: [Badge],
  template: `
    <div class="panel" [attr.data-status]="request.state().status">
      <p class="headline">{{ headline() }}</p>
      <p class="detail">{{ detail() }}</p>
      <small-badge [call]="request.call()" />
      @if (title()) {
        <p class="report">{{ title() }}</p>
      }
      <p class="buttons">
        <button type="button" class="primary" [attr.aria-disabled]="can().rests" (click)="can().go(request)">
          {{ can().again }}
        </button>
        <button type="button" [attr.aria-disabled]="!can().cancel" (click)="request.cancel()">Cancel</button>
      </p>
    </div>
  `,
})
export class Report {
  readonly url = input<string | false>(false);
  private readonly client = inject(CLIENT);
  readonly request = injectRequest(() => this.client, this.url);
  readonly headline = computed(() => headline(this.request.state()));
  readonly detail = computed(() => detail(this.request.state()));
  readonly can = computed(() => offers(this.request.state()));
  readonly title = signal("");

  constructor() {
    effect(() => {
      this.headline();
      rendered("report");
    });
    effect(() => {
      const state = this.request.state();
      this.title.set("");
      if (state.status !== "success") return;
      state.response
        .clone()
        .json()
        .then((report: { title: string }) => this.title.set(report.title));
    });
  }
}

@Component({
  selector: "small-app",
  imports: [Report],
  template: `
    <p class="buttons">
      <button type="button" class="primary" (click)="load.set(load() + 1)">Load report</button>
      <button type="button" (click)="open.set(!open())">{{ open() ? "Close panel" : "Open panel" }}</button>
    </p>
    @if (open()) {
      <small-report [url]="url()" />
    }
    <p class="circuits">{{ circuits() }}</p>
    <p class="counts note">{{ counts() }}</p>
  `,
})
export class App {
  private readonly client = inject(CLIENT);
  readonly load = signal(0);
  readonly open = signal(true);
  readonly url = computed(() => this.load() > 0 && reportUrl(this.load()));
  private readonly all = injectCircuits(() => this.client);
  private readonly snapshot = injectClient(() => this.client);
  readonly circuits = computed(() => circuitLine(this.all()));
  readonly counts = computed(() => clientLine(this.snapshot()));
}
