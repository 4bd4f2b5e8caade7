// The package in Next.js: server components, components of the page, handlers in both runtimes; by both of its bundlers.

import { installed } from "./support/frameworks.mjs";
import { describeFramework } from "./support/rendered.mjs";

const next = installed("next", "dist", "bin", "next");
const common = {
  project: "next",
  node: process.execPath,
  start: (port) => [next, "start", "--hostname", "127.0.0.1", "--port", String(port)],
  handlers: ["/node", "/edge"],
};

describeFramework("Next.js with Turbopack", { ...common, build: [next, "build"] });
describeFramework("Next.js with webpack", { ...common, build: [next, "build", "--webpack"] });
