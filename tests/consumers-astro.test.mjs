// The package in Astro with its adapter for Node: a page, an island of Solid, an endpoint.
import path from "node:path";
import { installed } from "./support/frameworks.mjs";
import { describeFramework } from "./support/rendered.mjs";

describeFramework("Astro", {
  project: "astro",
  build: [installed("astro", "bin", "astro.mjs"), "build"],
  start: () => [path.join("dist", "server", "entry.mjs")],
  handlers: ["/told"],
});
