import { createServer } from "node:http";
import { createFetch } from "steadfetch";

const fetch = createFetch({ totalTimeout: 10_000 }); // one for the process: its circuits remember

export const server = createServer(async (_request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort()); // the visitor has left: nothing more is asked for
  try {
    const report = await fetch(`${process.env.API}/report.json`, { signal: gone.signal });
    response.writeHead(report.status).end(await report.text());
  } catch {
    response.writeHead(503, { "Retry-After": "30" }).end();
  }
});
