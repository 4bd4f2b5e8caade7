// Looks. Text and lines have the colour of the page, so they can be read on whatever it has behind them; the few colours
// of its own are of a middle tone, which light and dark backgrounds both set off.

const CSS = `
:host { --tone: var(--steadfetch-rest, #75807a); display: block; line-height: 1.4; text-align: start }
:host([hidden]), [hidden], .detail:empty { display: none !important }
.again:not([hidden]) + .cancel[hidden] { display: revert !important; visibility: hidden }
:host([status=loading]) { --tone: var(--steadfetch-busy, #2a7fb8) }
:host(:is([status=waiting], [status=offline], [status=circuit-open])) { --tone: var(--steadfetch-wait, #a87414) }
:host([status=success]) { --tone: var(--steadfetch-good, #328552) }
:host(:is([status=failed], [status=exhausted])) { --tone: var(--steadfetch-bad, #c4533b) }
.box, .main, .actions { display: flex; align-items: center; gap: .75em }
.box, .actions { flex-wrap: wrap }
.box {
  padding: .75em 1em;
  border: 1px solid;
  border-color: color-mix(in srgb, currentColor 30%, transparent);
  border-inline-start: .25em solid var(--tone);
}
.box, button { box-sizing: border-box; border-radius: var(--steadfetch-radius, .5em) }
.main { flex: 1 1 15em; min-inline-size: 0 }
.icon { box-sizing: border-box; flex: none; inline-size: 1em; block-size: 1em; border: .5em solid var(--tone); border-radius: 50% }
.words { flex: 1; display: flex; flex-direction: column; align-items: flex-start; min-inline-size: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
p { margin: 0; unicode-bidi: plaintext }
:host(:dir(rtl)) p { text-align: right }
.headline { font-weight: 600 }
.detail { font-size: .9em }
button {
  min-block-size: 2.5em;
  padding: .3em .9em;
  font: inherit;
  color: inherit;
  background: none;
  border: 1px solid;
  cursor: pointer;
}
.again { color: var(--steadfetch-on-accent, #fff); background: var(--steadfetch-accent, #2470a8); border-color: transparent }
button:hover { text-decoration: underline }
:is(button, .main):focus-visible { outline: 2px solid; outline-offset: 2px }
.again:focus-visible { outline-color: var(--steadfetch-accent, #2470a8) }
[aria-disabled=true] { color: inherit; background: none; border: 1px dashed; opacity: .6; cursor: default; text-decoration: none }
.live { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%) }
:host([status=loading]) .icon { border-width: .2em }
@media (prefers-reduced-motion: no-preference) {
  :host([status=loading]) .icon { border-block-start-color: transparent; animation: turn 1s linear infinite }
}
@keyframes turn { to { rotate: 1turn } }
@media (forced-colors: active) {
  [aria-disabled=true] { color: GrayText; border-color: GrayText; opacity: 1 }
}
`;

const sheets = new WeakMap<Document, CSSStyleSheet>();

/** Constructed, which a policy without 'unsafe-inline' allows; one for all elements of a document, which has no others. */
export function styleSheet(page: Document): CSSStyleSheet | undefined {
  let sheet = sheets.get(page);
  if (!sheet && page.defaultView) {
    sheet = new page.defaultView.CSSStyleSheet();
    sheet.replaceSync(CSS);
    sheets.set(page, sheet);
  }
  return sheet;
}
