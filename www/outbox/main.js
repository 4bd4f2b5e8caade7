// Wires the page: the form to the outbox, what the outbox has to the lists, and what was chosen to the server of all tabs.
import { find, setText } from "../dom.js";
import { pretendOffline } from "../offline.js";
import { commentsUrl, serverFetch, setSharedPlan, startServer } from "../server.js";
import { createLetters } from "./letters.js";
import { arrival, excerpt, sentence, spoken, summary, written } from "./words.js";

const page = find({
  server: "server",
  faultNote: "fault-note",
  retryAfter: "retry-after",
  offline: "offline",
  serverNote: "server-note",
  post: "post",
  text: "text",
  send: "send",
  postNote: "post-note",
  pendingNote: "pending-note",
  pending: "pending",
  refusedCard: "refused-card",
  refused: "refused",
  takenNote: "taken-note",
  taken: "taken",
  announcer: "announcer",
});
const SERVER_NOTES = {
  starting: "The service worker that plays the server is starting. Until it is there, the page plays it.",
  worker: "A service worker of this page plays the server.",
  "stand-in": "No service worker here: a stand-in for fetch inside the page plays the server.",
};
const FAULTS = {
  none: "It takes them, each once.",
  503: "It answers 503 Service Unavailable: they wait and are sent again.",
  429: "It answers 429 Too Many Requests: they wait and are sent again.",
  422: "It answers 422 Unprocessable Content: they are put aside with its answer.",
  drop: "It takes them, but the connection breaks before the answer comes. They are sent again with the same key.",
  slow: "It takes them, in 4 seconds.",
};
/** Where the choice is kept, for all tabs. */
const CHOICE = "steadfetch outbox server";

// ---------------------------------------------------------------- the server

function readPlan() {
  const data = new FormData(page.server);
  const retryAfter = Number(page.retryAfter.value);
  return { fault: data.get("fault"), times: null, retryAfter, offline: data.has("offline") };
}

/** Shows what was chosen, here or in another tab. */
function restoreChoice() {
  const { fault = "none", retryAfter = 0, offline = false } = JSON.parse(localStorage.getItem(CHOICE)) ?? {};
  page.server.elements.fault.value = fault;
  page.retryAfter.value = retryAfter;
  page.offline.checked = offline;
}

async function choiceChanged() {
  const plan = readPlan();
  page.faultNote.textContent = FAULTS[plan.fault];
  page.retryAfter.disabled = !["503", "429"].includes(plan.fault);
  // First, and last when it ends: nothing is sent in between.
  if (plan.offline && navigator.onLine) pretendOffline(true);
  await setSharedPlan(plan);
  if (!plan.offline && Object.hasOwn(navigator, "onLine")) pretendOffline(false);
}

async function showTaken() {
  const response = await serverFetch()(commentsUrl);
  const comments = await response.json();
  setText(page.takenNote, comments.length ? "" : "No comment has arrived yet.");
  drawTaken(comments.map((comment) => ({ ...comment, id: comment.key })).reverse(), ({ text, requests }) => ({
    text,
    what: "",
    note: arrival({ requests }),
    status: "delivered",
  }));
}

// ---------------------------------------------------------------- the lists

const drawTaken = createLetters(page.taken, {});
const drawPending = createLetters(page.pending, {
  buttons: [
    { text: "Try now", act: (entry) => entry.retryNow() },
    { text: "Cancel", act: (entry) => entry.cancel() && announce(`${excerpt(entry)}: cancelled.`) },
  ],
  rest: page.text,
});
const drawRefused = createLetters(page.refused, {
  buttons: [
    { text: "Send again", act: (entry) => entry.retryNow() },
    { text: "Discard", act: (entry) => entry.cancel() && announce(`${excerpt(entry)}: discarded.`) },
  ],
  rest: page.text,
});

/** What the server said to a comment that it refused, by its answer. */
const said = new WeakMap();

function wordsOf({ state: { response } }) {
  if (!response) return "";
  if (!said.has(response)) {
    said.set(response, "");
    response
      .clone()
      .json()
      .then(({ title }) => said.set(response, `“${title}”`))
      .catch(() => {})
      .then(() => outbox && show(outbox.getSnapshot()));
  }
  return said.get(response);
}

let outbox = null;
/** The status of each comment that was told of. */
let told = new Map();

function show(snapshot) {
  const now = Date.now();
  const { entries, rejected } = snapshot;
  setText(page.pendingNote, summary(snapshot));
  drawPending(entries, (entry) => ({
    text: entry.meta.text,
    what: sentence(entry, now),
    note: written(entry, now),
    status: entry.state.status,
    rests: !["waiting", "offline"].includes(entry.state.status),
  }));
  page.refusedCard.hidden = rejected.length === 0;
  drawRefused(rejected, (entry) => ({
    text: entry.meta.text,
    what: `${sentence(entry, now)}. ${wordsOf(entry)}`.trim(),
    note: written(entry, now),
    status: "rejected",
  }));
  tellChanges([...entries, ...rejected], now);
}

/** Each state once, and no tick. */
function tellChanges(entries, now) {
  const before = told;
  told = new Map(entries.map(({ id, state }) => [id, state.status]));
  const changed = entries.filter(({ id, state }) => before.get(id) !== state.status);
  const words = changed.map((entry) => spoken(entry, now)).filter(Boolean);
  if (words.length) announce(words.length > 2 ? `${words.length} comments wait.` : words.join(" "));
}

function announce(text) {
  page.announcer.textContent = text;
}

// ---------------------------------------------------------------- posting

async function post(event) {
  event.preventDefault();
  const text = page.text.value.trim();
  if (!text) return;
  try {
    await outbox.send(commentsUrl, { method: "POST", body: text, meta: { text } });
    page.post.reset();
    page.postNote.textContent = "";
  } catch (error) {
    page.postNote.textContent = `This comment could not be stored: ${error.message}`;
    announce(page.postNote.textContent);
  }
  page.text.focus();
}

async function start() {
  restoreChoice();
  if (page.offline.checked) pretendOffline(true);
  page.server.addEventListener("change", () => {
    localStorage.setItem(CHOICE, JSON.stringify(readPlan()));
    return choiceChanged();
  });
  addEventListener("storage", ({ key }) => {
    if (key !== CHOICE) return;
    restoreChoice();
    choiceChanged();
  });

  await new Promise((resolve) => {
    startServer(async (kind) => {
      page.serverNote.textContent = SERVER_NOTES[kind];
      await choiceChanged();
      await showTaken();
      page.serverNote.dataset.server = kind;
      if (kind !== "starting") resolve();
    });
  });

  const [{ createFetch }, { createOutbox }] = await Promise.all([
    import("../steadfetch/index.js"),
    import("../steadfetch/outbox.js"),
  ]);
  const client = createFetch({
    fetch: (...request) => serverFetch()(...request),
    retry: { delay: 3_000, jitter: "equal" },
    timeout: 10_000,
    // Whoever plays with faults would soon have used up a retry budget.
    budget: false,
  });
  outbox = createOutbox(client, { name: "comments", onStorageDenied: "memory" });
  outbox.subscribe(show);
  outbox.addEventListener("delivered", ({ detail }) => {
    announce(`${excerpt(detail)}: delivered.`);
    showTaken();
  });
  // Ages grow without anything happening.
  setInterval(() => show(outbox.getSnapshot()), 10_000);
  page.post.addEventListener("submit", post);
  page.send.disabled = false;
}

start().catch((error) => {
  page.postNote.textContent =
    "The demo could not start. Is the built package beside this page, as steadfetch/outbox.js?";
  throw error;
});
