import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export const comments = [];
/** By their keys. A real one is a table beside that of the comments, and both are written in one transaction. */
const requests = new Map();

export const server = createServer(async (request, response) => {
  const key = request.headers["idempotency-key"];
  if (!key) return response.writeHead(400).end("Idempotency-Key is missing");
  const body = await text(request);
  const known = requests.get(key);
  if (known && known.body !== body) return response.writeHead(422).end("This key was another request's");
  if (known && !known.answer) return response.writeHead(409, { "Retry-After": "1" }).end("Still at work on it");
  if (known) return response.writeHead(201).end(known.answer);

  requests.set(key, { body });
  try {
    const answer = await take(body);
    requests.set(key, { body, answer });
    response.writeHead(201).end(answer);
  } catch {
    requests.delete(key); // nothing was done, so it may be tried again
    response.writeHead(503).end();
  }
});

async function take(body) {
  await new Promise((resolve) => setTimeout(resolve, 100)); // what a database takes
  comments.push(body);
  return `comment ${comments.length}`;
}
