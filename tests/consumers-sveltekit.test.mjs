// The package in SvelteKit with its adapter for Node: a load function, a component, an endpoint.
import { installed } from "./support/frameworks.mjs";
import { describeFramework } from "./support/rendered.mjs";

describeFramework("SvelteKit", {
  project: "sveltekit",
  build: [installed("vite", "bin", "vite.js"), "build"],
  start: () => ["build"],
  handlers: ["/api"],
});
