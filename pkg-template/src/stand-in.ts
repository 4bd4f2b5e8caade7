/** The core of the client as JavaScript. */
export const loadScript = () => import("./fallback.js");
