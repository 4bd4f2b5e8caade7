// Stand-ins for calls and clients, in every state that <steadfetch-status> can be given. What is in here runs in the
// page as well: each function stands on its own.

/** The page's clock stands still here. */
export const NOW = Date.parse("2026-01-01T00:00:00Z");

const base = { id: 1, run: 1, attempt: 1, maxAttempts: 5, since: NOW };
const failure = (kind, status) => ({ kind, ...(status && { status }), at: NOW, duration: 20 });
const ANSWERED = failure("status", 503);
const BROKE = failure("network");
const LATE = failure("timeout");

const state = (status, rest = {}, failures = []) => ({ ...base, status, failures, ...rest });
const waiting = (cause, rest = {}) =>
  state(
    "waiting",
    { retryAt: NOW + 8000, remaining: 8000, delay: 8000, source: "backoff", cause, ...rest },
    cause ? [cause] : [],
  );
const circuit = (rest) =>
  state(
    "circuit-open",
    {
      circuit: "https://a.example",
      retryAt: NOW + 30_000,
      remaining: 30_000,
      probeInFlight: false,
      settled: false,
      ...rest,
    },
    [ANSWERED],
  );
const failed = (reason, rest, failures = []) => state("failed", { reason, ...rest }, failures);
const exhausted = (reason, rest, failures = [ANSWERED]) =>
  state("exhausted", { reason, held: false, attempt: 5, ...rest }, failures);

/** Each state of a call: what is shown in English and in Spanish (headline, details), and the buttons; "(x)" rests. */
export const CALLS = {
  idle: [state("idle", { attempt: 0 }), "Starting", "Empezando", "(now) cancel"],
  loading: [
    state("loading", { probe: false }),
    "Loading (attempt 1 of 5)",
    "Cargando (intento 1 de 5)",
    "(now) cancel",
  ],
  "loading, the only attempt": [
    state("loading", { probe: false, maxAttempts: 1 }),
    "Loading",
    "Cargando",
    "(now) cancel",
  ],
  "loading, a probe": [
    state("loading", { probe: true, attempt: 2 }),
    "Loading (attempt 2 of 5) | This request checks whether the server is back.",
    "Cargando (intento 2 de 5) | Esta solicitud comprueba si el servidor ha vuelto.",
    "(now) cancel",
  ],
  "waiting, answered": [
    waiting(ANSWERED),
    "Trying again in 8 seconds (attempt 2 of 5) | The server answered 503.",
    "Se volverá a intentar en 8 segundos (intento 2 de 5) | El servidor respondió 503.",
    "now cancel",
  ],
  "waiting, asked to": [
    waiting(ANSWERED, { source: "retry-after", retryAt: NOW + 1000, remaining: 1000 }),
    "Trying again in 1 second (attempt 2 of 5) | The server answered 503 and asked us to wait.",
    "Se volverá a intentar en 1 segundo (intento 2 de 5) | El servidor respondió 503 y pidió esperar.",
    "now cancel",
  ],
  "waiting, asked to by a rate limit": [
    waiting(failure("status", 429), { source: "rate-limit", retryAt: NOW + 180_000, remaining: 180_000 }),
    "Trying again in 3 minutes (attempt 2 of 5) | The server answered 429 and asked us to wait.",
    "Se volverá a intentar en 3 minutos (intento 2 de 5) | El servidor respondió 429 y pidió esperar.",
    "now cancel",
  ],
  "waiting, broken off": [
    waiting(BROKE),
    "Trying again in 8 seconds (attempt 2 of 5) | The connection broke.",
    "Se volverá a intentar en 8 segundos (intento 2 de 5) | Se cortó la conexión.",
    "now cancel",
  ],
  "waiting, no answer": [
    waiting(LATE, { source: "custom" }),
    "Trying again in 8 seconds (attempt 2 of 5) | No answer came in time.",
    "Se volverá a intentar en 8 segundos (intento 2 de 5) | No llegó respuesta a tiempo.",
    "now cancel",
  ],
  "waiting, before the first attempt": [
    waiting(ANSWERED, { attempt: 0, source: "retry-after", failures: [] }),
    "Starting in 8 seconds | The server asked us to wait.",
    "Empieza en 8 segundos | El servidor pidió esperar.",
    "now cancel",
  ],
  offline: [
    state("offline", { nextProbeAt: NOW + 30_000 }),
    "You are offline | This goes on when you are back.",
    "Sin conexión | Seguirá cuando vuelva la conexión.",
    "now cancel",
  ],
  "circuit-open, queued": [
    circuit(),
    "Problems connecting: next check in 30 seconds | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: próxima comprobación en 30 segundos | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
    "now cancel",
  ],
  "circuit-open, queued behind a check": [
    circuit({ retryAt: null, remaining: 0, probeInFlight: true }),
    "Problems connecting: checking now | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: comprobando ahora | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
    "(now) cancel",
  ],
  "circuit-open, queued and held by hand": [
    circuit({ retryAt: null, remaining: 0 }),
    "Requests to this server are switched off",
    "Las solicitudes a este servidor están desactivadas",
    "(now) cancel",
  ],
  "circuit-open, refused": [
    circuit({ settled: true }),
    "Problems connecting: try again in 30 seconds | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: vuelve a intentarlo en 30 segundos | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
    "again",
  ],
  "circuit-open, refused, its time over": [
    circuit({ settled: true, retryAt: NOW - 1 }),
    "Problems connecting: you can try again now | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: ya puedes volver a intentarlo | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
    "again",
  ],
  "circuit-open, refused for a check": [
    circuit({ settled: true, retryAt: null, remaining: 0, probeInFlight: true }),
    "Problems connecting: checking now | Try again in a moment.",
    "Problemas de conexión: comprobando ahora | Vuelve a intentarlo en un momento.",
    "again",
  ],
  "circuit-open, refused and held by hand": [
    circuit({ settled: true, retryAt: null, remaining: 0 }),
    "Requests to this server are switched off",
    "Las solicitudes a este servidor están desactivadas",
    "again",
  ],
  success: [state("success", { response: { status: 200 } }), "Done", "Listo", ""],
  "failed, status": [
    failed("status", { response: { status: 404 } }, [failure("status", 404)]),
    "The request failed | The server answered 404.",
    "La solicitud falló | El servidor respondió 404.",
    "again",
  ],
  "failed, not-idempotent": [
    failed("not-idempotent", { error: 1 }, [BROKE]),
    "The request failed | The connection broke. It was not repeated, because it might then take effect twice.",
    "La solicitud falló | Se cortó la conexión. No se repitió, porque podría surtir efecto dos veces.",
    "again",
  ],
  "failed, body-not-replayable": [
    failed("body-not-replayable", { response: { status: 503 } }, [ANSWERED]),
    "The request failed | The server answered 503. It could not be repeated automatically.",
    "La solicitud falló | El servidor respondió 503. No se pudo repetir automáticamente.",
    "again",
  ],
  "failed, vetoed": [
    failed("vetoed", { error: 1 }, [LATE]),
    "The request failed | No answer came in time.",
    "La solicitud falló | No llegó respuesta a tiempo.",
    "again",
  ],
  "failed, invalid-request": [
    failed("invalid-request", { error: 1, attempt: 0 }),
    "The request failed | Something went wrong in this page.",
    "La solicitud falló | Algo salió mal en esta página.",
    "again",
  ],
  "failed, callback-threw": [
    failed("callback-threw", { error: 1 }, [ANSWERED]),
    "The request failed | Something went wrong in this page.",
    "La solicitud falló | Algo salió mal en esta página.",
    "again",
  ],
  "failed, offline": [
    failed("offline", { error: 1, attempt: 0 }),
    "The request failed | You are offline, so nothing was sent.",
    "La solicitud falló | No hay conexión y no se envió nada.",
    "again",
  ],
  "exhausted, limit": [
    exhausted("limit", { response: { status: 503 } }),
    "Stopped trying | The server answered 503. Tried 5 times.",
    "Se dejó de intentar | El servidor respondió 503. Se intentó 5 veces.",
    "again",
  ],
  "exhausted, limit of one attempt": [
    exhausted("limit", { error: 1, attempt: 1 }, [BROKE]),
    "Stopped trying | The connection broke. Tried once.",
    "Se dejó de intentar | Se cortó la conexión. Se intentó una vez.",
    "again",
  ],
  "exhausted, budget": [
    exhausted("budget", { error: 1 }, [LATE]),
    "Stopped trying | No answer came in time. Many requests failed lately, so this stopped early.",
    "Se dejó de intentar | No llegó respuesta a tiempo. Últimamente fallaron muchas solicitudes, por eso se paró antes.",
    "again",
  ],
  "exhausted, total-timeout": [
    exhausted("total-timeout", { error: 1 }),
    "Stopped trying | It took too long altogether.",
    "Se dejó de intentar | Tardó demasiado en total.",
    "again",
  ],
  "exhausted, total-timeout at an open circuit": [
    exhausted("total-timeout", { error: 1, retryAt: NOW + 20_000 }),
    "Stopped trying | It took too long altogether. Worth another try in 20 seconds.",
    "Se dejó de intentar | Tardó demasiado en total. Vale la pena volver a intentarlo en 20 segundos.",
    "again",
  ],
  "exhausted, retry-after-too-long": [
    exhausted("retry-after-too-long", { response: { status: 503 }, retryAt: NOW + 3 * 3_600_000 }),
    "Stopped trying | The server asked us to wait. Worth another try in 3 hours.",
    "Se dejó de intentar | El servidor pidió esperar. Vale la pena volver a intentarlo en 3 horas.",
    "again",
  ],
  "exhausted and held": [
    exhausted("limit", { response: { status: 503 }, held: true }),
    "Stopped trying | The server answered 503. Tried 5 times. It is kept until you try again or cancel.",
    "Se dejó de intentar | El servidor respondió 503. Se intentó 5 veces. Queda en espera hasta que vuelvas a intentarlo o canceles.",
    "again cancel",
  ],
  cancelled: [state("cancelled", { reason: 1 }), "Cancelled", "Cancelado", "again"],
};

const snapshot = (rest) => ({
  loading: 0,
  waiting: 0,
  offline: 0,
  queued: 0,
  online: true,
  nextRetryAt: null,
  openCircuits: [],
  ...rest,
});
const open = (rest) => ({
  key: "https://a.example",
  status: "open",
  openUntil: NOW + 12_000,
  remaining: 12_000,
  ...rest,
});

/** Each line of a client, in the same form; null where it shows nothing. */
export const CLIENTS = {
  "all is well": [snapshot({ loading: 3 }), null, null],
  offline: [snapshot({ online: false }), "You are offline", "Sin conexión"],
  "offline before open circuits": [
    snapshot({ online: false, offline: 1, openCircuits: [open()] }),
    "You are offline | 1 request goes on when you are back.",
    "Sin conexión | 1 solicitud seguirá cuando vuelva la conexión.",
  ],
  "offline with several calls": [
    snapshot({ online: false, offline: 2, waiting: 1 }),
    "You are offline | 3 requests go on when you are back.",
    "Sin conexión | 3 solicitudes seguirán cuando vuelva la conexión.",
  ],
  "open circuits before calls that wait": [
    snapshot({ waiting: 2, nextRetryAt: NOW + 3000, openCircuits: [open(), open({ openUntil: NOW + 9000 })] }),
    "Problems connecting: next check in 9 seconds | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: próxima comprobación en 9 segundos | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
  ],
  "a circuit under its check": [
    snapshot({ loading: 1, openCircuits: [open({ status: "half-open", openUntil: null })] }),
    "Problems connecting: checking now | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: comprobando ahora | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
  ],
  "a circuit whose check is due": [
    snapshot({ openCircuits: [open({ status: "half-open", openUntil: null })] }),
    "Problems connecting: the next request will check the server | Too many requests failed, so the server gets a pause.",
    "Problemas de conexión: la próxima solicitud comprobará el servidor | Fallaron demasiadas solicitudes, así que se da una pausa al servidor.",
  ],
  "a circuit held open by hand": [
    snapshot({ openCircuits: [open({ status: "isolated", openUntil: null })] }),
    "Requests to this server are switched off",
    "Las solicitudes a este servidor están desactivadas",
  ],
  "one call waits": [
    snapshot({ waiting: 1, nextRetryAt: NOW + 3000 }),
    "1 request is waiting | Next try in 3 seconds.",
    "1 solicitud en espera | Próximo intento en 3 segundos.",
  ],
  "several calls wait": [
    snapshot({ waiting: 1, queued: 1, nextRetryAt: NOW + 1000 }),
    "2 requests are waiting | Next try in 1 second.",
    "2 solicitudes en espera | Próximo intento en 1 segundo.",
  ],
};

/** In the page: puts `globalThis.stand` there, which makes calls and clients whose states are set by hand. */
export function standIns() {
  const store = (value) => {
    const listeners = new Set();
    return {
      listeners,
      subscribe(listener) {
        listeners.add(listener);
        listener(value);
        return () => listeners.delete(listener);
      },
      getSnapshot: () => value,
      set(now) {
        value = now;
        for (const listener of listeners) listener(value);
      },
    };
  };
  const acts = (names, on) => Object.fromEntries(names.map((name) => [name, () => on.clicked.push(name)]));
  globalThis.stand = {
    call(state) {
      const call = { ...store(state), clicked: [] };
      return Object.assign(call, acts(["retryNow", "retry", "cancel"], call));
    },
    client(snapshot) {
      const calls = [];
      const client = Object.assign(() => {}, store(snapshot), {
        calls: () => calls,
        begin(call) {
          calls.push(call);
          client.set({ ...client.getSnapshot() });
        },
      });
      return client;
    },
  };
  globalThis.element = document.querySelector("steadfetch-status");
  const root = element.shadowRoot;
  const text = (name) => root.querySelector(`.${name}`);
  /** "headline | details", or null. */
  globalThis.shown = () =>
    text("box").hidden
      ? null
      : [text("headline"), text("detail")]
          .map((part) => part.textContent)
          .filter(Boolean)
          .join(" | ");
  globalThis.offered = () =>
    [...root.querySelectorAll("button")]
      .filter((button) => button.checkVisibility({ visibilityProperty: true }))
      .map((button) => {
        const name = button.dataset.click.replace("try-", "");
        return button.ariaDisabled === "true" ? `(${name})` : name;
      })
      .join(" ");
  /** What was announced, and what was shown, since this ran. */
  globalThis.heard = [];
  globalThis.seen = [];
  const record = (node, into) =>
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const { textContent } of addedNodes) into.push(textContent);
    }).observe(node, { childList: true });
  record(text("live"), heard);
  record(text("headline"), seen);
}
