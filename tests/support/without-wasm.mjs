// Preloaded, takes WebAssembly away and lets the core of pkg/ be its stand-in, ready before the first test.
//
//   node --import ./tests/support/without-wasm.mjs --test tests/cases-waits.test.mjs

import { createServer } from "node:http";

// Node's own fetch is made of WebAssembly, too: it has to have its own before.
const server = createServer((_, response) => response.writeHead(204, { Connection: "close" }).end());
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
await fetch(`http://127.0.0.1:${server.address().port}`);
server.close();

Object.defineProperty(globalThis, "WebAssembly", { value: undefined });
const { createFetch } = await import("../../pkg/dist/index.js");
await createFetch().ready();
