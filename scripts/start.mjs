// Sets up, builds and serves the demo page. PORT names the port; otherwise 8080 or the next free one.
import { exitWith, Failure } from "./lib/run.mjs";
import { serve } from "./serve.mjs";
import { setup } from "./setup.mjs";

const FIRST_PORT = 8080;
const LAST_PORT = 8180;

async function start() {
  setup({ tests: false });
  const { build } = await import("./build.mjs");
  await build();
  const { buildApps } = await import("./lib/apps.mjs");
  await buildApps();
  const { url } = await listen();
  console.log(`\nThe demo is at ${url} (Ctrl+C ends it)`);
}

async function listen() {
  const named = process.env.PORT;
  const [from, to] = named ? [Number(named), Number(named)] : [FIRST_PORT, LAST_PORT];
  for (let port = from; port <= to; port++) {
    try {
      return await serve({ port });
    } catch (error) {
      if (error.code !== "EADDRINUSE" && error.code !== "EACCES") throw error;
    }
  }
  throw new Failure(
    named ? `port ${named} is taken or not allowed` : `no free port from ${from} to ${to}`,
    "Name another one: PORT=3000 npm start",
  );
}

await start().catch(exitWith);
