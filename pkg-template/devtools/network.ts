// Pretends that the browser is offline: what `navigator.onLine` says, and the event that tells of it.

/** Those that do; the browser is online again when the last of them has ended it. */
const pretending = new Set<object>();

export function pretendOffline(who: object, offline: boolean): void {
  if (pretending.has(who) === offline) return;
  if (offline) pretending.add(who);
  else pretending.delete(who);
  if (pretending.size) Object.defineProperty(navigator, "onLine", { configurable: true, get: () => false });
  else Reflect.deleteProperty(navigator, "onLine");
  window.dispatchEvent(new Event(navigator.onLine ? "online" : "offline"));
}
