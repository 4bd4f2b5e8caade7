import { Component, computed, effect, InjectionToken, inject, input, signal } from "@angular/core";
import type { Call, SteadFetch } from "steadfetch";
import { injectCall, injectCircuits, injectClient, injectOutbox, injectRequest } from "steadfetch/angular";
import type { Outbox } from "steadfetch/outbox";
import { postComment, reportUrl } from "../lib/backend.js";
import { circuitLine, clientLine, commentLine, detail, headline, offers, outboxLine, rendered } from "../lib/words.js";

export const CLIENT = new InjectionToken<SteadFetch>("the client");
export const OUTBOX = new InjectionToken<Outbox<string>>("the outbox");

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
  selector: "small-comments",
  template: `
    <ul class="comments">
      @for (entry of all(); track entry.id) {
        <li>
          <span>{{ line(entry) }}</span>
          <button type="button" (click)="entry.retryNow()">Send now</button>
          <button type="button" (click)="entry.cancel()">Take back</button>
        </li>
      }
    </ul>
  `,
})
export class Comments {
  private readonly outbox = inject(OUTBOX);
  private readonly snapshot = injectOutbox(() => this.outbox);
  readonly all = computed(() => [...this.snapshot().entries, ...this.snapshot().rejected]);
  readonly line = commentLine;

  constructor() {
    effect(() => {
      this.all().map(commentLine);
      rendered("comments");
    });
  }
}

/** Shows how many there are: a tick does not run it anew. */
@Component({ selector: "small-kept", template: `<p class="kept note">{{ line() }}</p>` })
export class Kept {
  private readonly outbox = inject(OUTBOX);
  private readonly snapshot = injectOutbox(() => this.outbox);
  readonly line = computed(() => {
    rendered("kept");
    return outboxLine(this.snapshot());
  });
}

@Component({
  selector: "small-app",
  imports: [Comments, Kept, Report],
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
    <p class="buttons">
      <button type="button" class="primary" (click)="post()">Post comment</button>
    </p>
    <small-comments />
    <small-kept />
  `,
})
export class App {
  private readonly client = inject(CLIENT);
  private readonly outbox = inject(OUTBOX);
  readonly post = () => postComment(this.outbox);
  readonly load = signal(0);
  readonly open = signal(true);
  readonly url = computed(() => this.load() > 0 && reportUrl(this.load()));
  private readonly all = injectCircuits(() => this.client);
  private readonly snapshot = injectClient(() => this.client);
  readonly circuits = computed(() => circuitLine(this.all()));
  readonly counts = computed(() => clientLine(this.snapshot()));
}
