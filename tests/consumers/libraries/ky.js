import ky from "ky";
import { createFetch } from "steadfetch";

/** Its time limit of 10 s would count the waits too. */
export const makeKy = (fetch = createFetch()) => ky.create({ fetch, retry: 0, timeout: false });
