// Pretends that the browser is offline: what `navigator.onLine` says, and the event that tells of it.

export function pretendOffline(offline: boolean): void {
  if (offline) Object.defineProperty(navigator, "onLine", { configurable: true, get: () => false });
  else Reflect.deleteProperty(navigator, "onLine");
  window.dispatchEvent(new Event(navigator.onLine ? "online" : "offline"));
}
