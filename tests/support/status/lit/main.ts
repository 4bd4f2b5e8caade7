import { html, render } from "lit";
import "steadfetch/element";
import type { Call } from "steadfetch";
import { clicked, client, load, messages, place } from "../page";

function show(call?: Call): void {
  const report = html`
    <button type="button" @click=${() => show(load())}>Load</button>
    <steadfetch-status .call=${call} .messages=${messages} lang="en"></steadfetch-status>
    <steadfetch-status .client=${client} @steadfetch-try-now=${clicked}></steadfetch-status>
  `;
  render(report, place);
}

show();
