/** The core of the outbox as JavaScript. */
export const loadScript = () => import("./outbox-fallback.js");
