// Pretends that the browser is offline: what `navigator.onLine` says, and the two events.

export function pretendOffline(offline) {
  if (offline) Object.defineProperty(navigator, "onLine", { configurable: true, get: () => false });
  else delete navigator.onLine;
  window.dispatchEvent(new Event(navigator.onLine ? "online" : "offline"));
}
