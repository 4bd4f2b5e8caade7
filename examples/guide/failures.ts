import { fetch } from "./client.js";

fetch.addEventListener("exhausted", ({ detail }) => {
  const tries = detail.state.failures.map(({ kind, status }) => status ?? kind);
  console.log(`${detail.url} ended after ${tries.join(", ")}: ${detail.state.reason}`);
});
