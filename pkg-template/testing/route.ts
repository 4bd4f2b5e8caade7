// The scripted server behind Playwright's page.route(). It runs in Node.
import type * as Api from "../testing.js";

/** Playwright takes a Buffer for bytes, and nothing else. */
declare const Buffer: { from(bytes: ArrayBuffer): never };

export const routeScript: typeof Api.routeScript = (script) => async (route) => {
  const asked = route.request();
  const body = asked.postDataBuffer() as Uint8Array<ArrayBuffer> | null;
  const request = new Request(asked.url(), { method: asked.method(), headers: asked.headers(), body });
  let response: Response;
  try {
    response = await script(request);
  } catch {
    return route.abort("failed");
  }
  const headers = Object.fromEntries(response.headers);
  return route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) });
};
