import { html, LitElement, nothing } from "lit";
import {
  CallController,
  CircuitsController,
  ClientController,
  OutboxController,
  RequestController,
} from "steadfetch/lit";
import { postComment, reportUrl } from "../lib/backend.js";
import { circuitLine, clientLine, commentLine, detail, headline, offers, outboxLine, rendered } from "../lib/words.js";

/** Without a shadow root, so that the page's style sheet holds. */
class Light extends LitElement {
  createRenderRoot() {
    return this;
  }
}

class SmallApp extends Light {
  static properties = {
    client: { attribute: false },
    outbox: { attribute: false },
    load: { state: true },
    open: { state: true },
  };

  constructor() {
    super();
    this.load = 0;
    this.open = true;
  }

  willUpdate() {
    this.circuits ??= new CircuitsController(this, this.client);
    this.counts ??= new ClientController(this, this.client);
  }

  render() {
    return html`
      <p class="buttons">
        <button type="button" class="primary" @click=${() => this.load++}>Load report</button>
        <button type="button" @click=${() => {
          this.open = !this.open;
        }}>${this.open ? "Close panel" : "Open panel"}</button>
      </p>
      ${
        this.open
          ? html`<small-report .client=${this.client} .url=${this.load > 0 && reportUrl(this.load)}></small-report>`
          : nothing
      }
      <p class="circuits">${circuitLine(this.circuits.circuits)}</p>
      <p class="counts note">${clientLine(this.counts.snapshot)}</p>
      <p class="buttons">
        <button type="button" class="primary" @click=${() => postComment(this.outbox)}>Post comment</button>
      </p>
      <small-comments .outbox=${this.outbox}></small-comments>
      <small-kept .outbox=${this.outbox}></small-kept>
    `;
  }
}

class SmallReport extends Light {
  static properties = { client: { attribute: false }, url: { attribute: false }, title: { state: true } };

  request = new RequestController(
    this,
    () => this.client,
    () => this.url,
  );

  updated() {
    rendered("report");
    const { response } = this.request.state;
    if (this.seen === response) return;
    this.seen = response;
    this.heading = "";
    if (response?.ok) {
      response
        .clone()
        .json()
        .then(({ title }) => {
          this.heading = title;
          this.requestUpdate();
        });
    }
  }

  render() {
    const { request } = this;
    const { state, call } = request;
    const can = offers(state);
    return html`
      <div class="panel" data-status=${state.status}>
        <p class="headline">${headline(state)}</p>
        <p class="detail">${detail(state)}</p>
        <small-badge .call=${call}></small-badge>
        ${this.heading ? html`<p class="report">${this.heading}</p>` : nothing}
        <p class="buttons">
          <button type="button" class="primary" aria-disabled=${can.rests} @click=${() => can.go(request)}>
            ${can.again}
          </button>
          <button type="button" aria-disabled=${!can.cancel} @click=${() => request.cancel()}>Cancel</button>
        </p>
      </div>
    `;
  }
}

/** Shows the status alone: a tick does not render it. */
class SmallBadge extends Light {
  static properties = { call: { attribute: false } };
  controller = new CallController(this);

  willUpdate(changed) {
    if (changed.has("call")) this.controller.call = this.call;
  }

  render() {
    rendered("badge");
    return html`<p class="badge">${this.controller.state.status}</p>`;
  }
}

class SmallComments extends Light {
  static properties = { outbox: { attribute: false } };

  willUpdate() {
    this.controller ??= new OutboxController(this, this.outbox);
  }

  render() {
    rendered("comments");
    const { entries, rejected } = this.controller.snapshot;
    return html`
      <ul class="comments">
        ${[...entries, ...rejected].map(
          (entry) => html`
            <li>
              <span>${commentLine(entry)}</span>
              <button type="button" @click=${entry.retryNow}>Send now</button>
              <button type="button" @click=${entry.cancel}>Take back</button>
            </li>
          `,
        )}
      </ul>
    `;
  }
}

/** Shows how many there are: a tick does not render it. */
class SmallKept extends Light {
  static properties = { outbox: { attribute: false } };

  willUpdate() {
    this.controller ??= new OutboxController(this, this.outbox);
  }

  render() {
    rendered("kept");
    return html`<p class="kept note">${outboxLine(this.controller.snapshot)}</p>`;
  }
}

customElements.define("small-app", SmallApp);
customElements.define("small-comments", SmallComments);
customElements.define("small-kept", SmallKept);
customElements.define("small-report", SmallReport);
customElements.define("small-badge", SmallBadge);
