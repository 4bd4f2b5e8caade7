// The package in Nuxt: data of a page, a component, a handler of Nitro.
import path from "node:path";
import { installed } from "./support/frameworks.mjs";
import { describeFramework } from "./support/rendered.mjs";

describeFramework("Nuxt", {
  project: "nuxt",
  build: [installed("nuxt", "bin", "nuxt.mjs"), "build"],
  start: () => [path.join(".output", "server", "index.mjs")],
  handlers: ["/api/told"],
});
