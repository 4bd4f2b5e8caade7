import { createOutbox } from "steadfetch/outbox";
import { fetch } from "./client.js";

export const outbox = createOutbox(fetch, {
  async prepare(request) {
    request.headers.set("Authorization", `Bearer ${await freshToken()}`);
  },
});

/** Of whoever is logged in now. Throws where nobody is: then the attempt has failed, and the next one asks again. */
async function freshToken(): Promise<string> {
  const response = await globalThis.fetch("/token");
  if (!response.ok) throw new Error(`no token: ${response.status}`);
  return response.text();
}
