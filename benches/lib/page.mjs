// A page that has a module, in a browser that is closed afterwards.

import { start } from "../../tests/support/launch.mjs";
import { blank } from "../../tests/support/packed.mjs";
import { startServer } from "../../tests/support/server.mjs";

/** Where the server answers with a few bytes, whatever it is asked, and keeps no record. */
export const SMALL = "/small";

/** For `startServer({ files })`. */
export function answerSmall(request, response) {
  if (request.url !== SMALL) return false;
  response.writeHead(200, { "Content-Type": "text/plain" }).end("ok");
  return true;
}

/**
 * Opens a page whose `globalThis.bench` is what the module exports, and hands it to `act` with its server and browser.
 *
 * @template T
 * @param {"chromium" | "firefox"} engine
 * @param {string} code  of the module, bundled
 * @param {(page: import("playwright-core").Page, server: object, browser: object) => Promise<T>} act
 * @param {{ args?: string[], headers?: Record<string, string> }} [options]  Chromium's arguments; headers of all files
 * @returns {Promise<T>}
 */
export async function inPage(engine, code, act, { args, headers = {} } = {}) {
  const served = {
    "/": ["text/html", blank()],
    "/bench.js": ["text/javascript", code],
  };
  const server = await startServer({
    files(request, response) {
      if (answerSmall(request, response)) return true;
      const [type, body] = served[new URL(request.url, "http://localhost").pathname] ?? [];
      if (!type) return false;
      response.writeHead(200, { "Content-Type": `${type}; charset=utf-8`, ...headers }).end(body);
      return true;
    },
  });
  const browser = await start(engine, args).catch(async (error) => {
    await server.close();
    throw error;
  });
  try {
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.evaluate(async () => {
      globalThis.bench = await import("/bench.js");
    });
    return await act(page, server, browser);
  } finally {
    await browser.close();
    await server.close();
  }
}
