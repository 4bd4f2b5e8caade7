// Wires the page: the forms to the chaos server and the client, the states of the call to what is shown.
import { onAction, showActions } from "./actions.js";
import { drawCircuit } from "./circuit.js";
import { find, setText } from "./dom.js";
import { createGraph } from "./graph.js";
import { pretendOffline } from "./offline.js";
import { hideReport, showReport } from "./report.js";
import { sentence, spoken } from "./sentence.js";
import { reportUrl, serverFetch, setPlan, startServer } from "./server.js";
import { asCode, FAULTS, readOptions, readPlan } from "./settings.js";
import { drawTimeline, record } from "./timeline.js";

const page = find({
  server: "server",
  faultNote: "fault-note",
  retryAfter: "retry-after",
  times: "times",
  offline: "offline",
  serverNote: "server-note",
  load: "load",
  options: "options",
  code: "code",
  status: "status",
  headline: "headline",
  detail: "detail",
  announcer: "announcer",
  graph: "graph",
  step: "step",
});
const SERVER_NOTES = {
  starting: "The service worker that plays the server is starting. Until it is there, the page plays it.",
  worker: "A service worker of this page plays the server.",
  "stand-in": "No service worker here: a stand-in for fetch inside the page plays the server.",
};
const IDLE = { status: "idle" };

const showStep = createGraph(page.graph);
let client = null;
let call = null;
let controller = new AbortController();
let loads = 0;
let shown = IDLE; // the state on the screen
let stretches = []; // of the time line

async function load() {
  const nth = ++loads;
  controller.abort(); // a new load takes the place of the one before
  controller = new AbortController();
  await setPlan(readPlan(page.server));
  if (nth !== loads) return;

  hideReport();
  shown = IDLE;
  stretches = [];
  const { signal } = controller;
  call = client.extend({ ...readOptions(page.options), fetch: serverFetch() }).start(reportUrl(nth), { signal });
  const unsubscribe = call.subscribe(show);
  signal.addEventListener("abort", unsubscribe);
}

function show(state) {
  const { status, since } = shown;
  shown = state;
  stretches = record(stretches, state);
  if (state.status !== status || state.since !== since) enter(status, state);
  refresh();
}

/** Once per state: ticks of a countdown do not come here. */
function enter(from, state) {
  page.status.dataset.status = state.status;
  page.announcer.textContent = spoken(state, Date.now());
  page.step.textContent = from === state.status ? state.status : `${from} → ${state.status}`;
  showStep(from, state.status);
  showActions(state);
  if (state.status === "success") showReport(state.response);
}

/** What moves with time alone: countdowns and bars. */
function refresh() {
  const now = Date.now();
  const { headline, detail } = sentence(shown, now);
  setText(page.headline, headline);
  setText(page.detail, detail);
  drawTimeline(stretches, now);
  drawCircuit(client?.circuits.getSnapshot()[0], shown.source === "retry-after", now);
}

function serverChanged() {
  const plan = readPlan(page.server);
  page.faultNote.textContent = FAULTS[plan.fault];
  page.times.disabled = plan.fault === "none";
  page.retryAfter.disabled = !(plan.fault >= 400);
  return setPlan(plan);
}

const optionsChanged = () => (page.code.textContent = asCode(readOptions(page.options)));

async function start() {
  page.server.addEventListener("change", serverChanged);
  page.options.addEventListener("change", optionsChanged);
  page.offline.addEventListener("change", async () => {
    if (page.offline.checked) pretendOffline(true); // first, and last when it ends: nothing is sent in between
    await serverChanged();
    if (!page.offline.checked) pretendOffline(false);
  });
  page.load.addEventListener("click", load);
  onAction(() => call);
  optionsChanged();
  showStep(null, "idle");
  refresh();
  startServer((kind) => {
    page.serverNote.dataset.server = kind;
    page.serverNote.textContent = SERVER_NOTES[kind];
    serverChanged();
  });

  const { createFetch } = await import("./steadfetch/index.js");
  // Whoever plays with faults would soon have used up a retry budget.
  client = createFetch({ budget: false });
  client.circuits.subscribe(refresh);
  document.getElementById("reset").addEventListener("click", () => client.circuits.reset());
  setInterval(refresh, matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 200);
  page.load.disabled = false;
}

start().catch((error) => {
  page.headline.textContent = "The demo could not start";
  page.detail.textContent = "Is the built package beside this page, as steadfetch/index.js?";
  throw error;
});
