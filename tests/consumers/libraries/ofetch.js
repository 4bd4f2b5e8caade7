import { createFetch as createOfetch } from "ofetch";
import { createFetch } from "steadfetch";

/** It hands its own options on, and `retry: 0` would reach the client: only what is not one of them may. */
export const makeOfetch = (client = createFetch()) =>
  createOfetch({
    fetch: (request, { retry, timeout, ...init } = {}) => client(request, init),
    defaults: { retry: 0 },
  });
