// The looks of the panel. Its own colours, light and dark, so that no page can make it unreadable.

export const STYLE = `
:host {
  color-scheme: light dark;
  --ink: light-dark(#1d2320, #e6eae8);
  --soft: light-dark(#565f59, #a5afab);
  --card: light-dark(#fff, #1d2225);
  --well: light-dark(#eceee9, #272d31);
  --line: light-dark(#d0d4cd, #3d454a);
  --loading: light-dark(#1f5f8b, #84bfe6);
  --waiting: light-dark(#b37a10, #e3b45a);
  --success: light-dark(#2e7048, #7fca9b);
  --bad: light-dark(#a8442f, #ef947e);
  --rest: light-dark(#8a9188, #7d878c);
  display: block;
  container-type: inline-size;
  font: 13px/1.4 system-ui, sans-serif;
  color: var(--ink);
  text-align: start;
}
:host([floating]) {
  position: fixed;
  inset: auto 0 0;
  z-index: 2147483646;
}
details {
  background: var(--card);
  border: 1px solid var(--line);
}
:host([floating]) details {
  max-height: 50vh;
  overflow: auto;
  border-width: 1px 0 0;
}
summary {
  padding: 0.5em 0.75em;
  font-weight: 600;
  cursor: pointer;
}
summary:focus-visible, button:focus-visible, input:focus-visible {
  outline: 2px solid var(--loading);
  outline-offset: 1px;
}
section {
  padding: 0 0.75em 0.75em;
  overflow-x: auto;
}
h3 {
  margin: 0.5em 0 0.25em;
  font-size: 0.85em;
  letter-spacing: 0.04em;
  text-transform: uppercase;
  color: var(--soft);
}
.bar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.75em;
  padding: 0 0.75em 0.5em;
}
button {
  font: inherit;
  color: inherit;
  min-height: 24px;
  padding: 0.1em 0.6em;
  background: var(--well);
  border: 1px solid var(--rest);
  border-radius: 4px;
  cursor: pointer;
}
table {
  border-collapse: collapse;
  width: 100%;
}
th, td {
  padding: 0.25em 0.75em 0.25em 0;
  text-align: start;
  white-space: nowrap;
  vertical-align: middle;
}
th { font-weight: 400; color: var(--soft); }
td.line { width: 60%; min-width: 12em; }
.track {
  position: relative;
  height: 1.1em;
  background: var(--well);
  border-radius: 3px;
  overflow: hidden;
}
.track span {
  position: absolute;
  top: 0;
  bottom: 0;
  min-width: 2px;
  background: var(--rest);
  forced-color-adjust: none;
}
.track .loading { background: var(--loading); }
.track .waiting { background: repeating-linear-gradient(45deg, var(--waiting) 0 4px, transparent 4px 7px); }
.track .success { background: var(--success); min-width: 4px; }
.track :is(.failed, .exhausted, .circuit-open) { background: var(--bad); min-width: 4px; }
.soft { color: var(--soft); }
.actions { display: flex; gap: 0.35em; }
@container (max-width: 40em) {
  tr {
    display: flex;
    flex-wrap: wrap;
    padding-block: 0.25em;
    border-block-end: 1px solid var(--line);
  }
  td { white-space: normal; }
  td.line { flex: 1 0 100%; order: 1; }
}
p { margin: 0; }
`;
