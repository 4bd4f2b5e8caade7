// For tests of what uses a client: nothing here knows a test runner, so all of them will do.
export { virtualClock } from "./clock.ts";
export { routeScript } from "./route.ts";
export { script } from "./script.ts";
export { callTrace } from "./trace.ts";
