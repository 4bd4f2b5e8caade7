import { html, LitElement } from "lit";
import { createFetch } from "steadfetch";
import { RequestController } from "steadfetch/lit";
import { buttons } from "./buttons";
import { sentence } from "./sentence";

const client = createFetch({ onCircuitOpen: "wait", retry: { delay: 2000, jitter: "equal" } });

export class ReportPanel extends LitElement {
  static override properties = { url: { type: String } };
  declare url: string;

  readonly request = new RequestController(
    this,
    () => client,
    () => this.url,
  );

  override render() {
    const { state, retryNow, retry, cancel } = this.request;
    const can = buttons(state);
    return html`
      <p>${sentence(state)}</p>
      <button
        type="button"
        aria-disabled=${!can.tryNow && !can.tryAgain}
        @click=${() => (can.tryAgain ? retry() : retryNow())}
      >
        ${can.tryAgain ? "Try again" : "Try now"}
      </button>
      <button type="button" aria-disabled=${!can.cancel} @click=${() => cancel()}>Cancel</button>
    `;
  }
}
customElements.define("report-panel", ReportPanel);
