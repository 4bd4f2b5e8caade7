import createClient from "openapi-fetch";
import { createFetch } from "steadfetch";

export const makeClient = (baseUrl, fetch = createFetch()) => createClient({ baseUrl, fetch });
