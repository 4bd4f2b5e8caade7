// The report itself, once it is there.
import { find } from "./dom.js";

const { empty, table, title, rows } = find({
  empty: "report-empty",
  table: "report-table",
  title: "report-title",
  rows: "report-rows",
});
let awaited = null;

export function hideReport() {
  awaited = null;
  table.hidden = true;
  empty.hidden = false;
  empty.textContent = "The report comes here.";
}

export async function showReport(response) {
  awaited = response;
  const report = await response.json().catch(() => null);
  if (response !== awaited) return;
  if (report === null) {
    empty.textContent = "The report was cut short on its way. Please load it again.";
    return;
  }
  const most = Math.max(...report.rows.map(([, value]) => value));
  title.textContent = report.title;
  rows.replaceChildren(...report.rows.map(([label, value]) => row(label, value, value / most)));
  empty.hidden = true;
  table.hidden = false;
}

function row(label, value, share) {
  const made = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = label;
  const bar = document.createElement("span");
  bar.className = "share";
  bar.style.width = `${share * 100}%`;
  const number = made.appendChild(document.createElement("td"));
  number.textContent = value;
  const chart = document.createElement("td");
  chart.append(bar);
  chart.ariaHidden = "true";
  made.replaceChildren(head, number, chart);
  return made;
}
