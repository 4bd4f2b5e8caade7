import { createApi, fetchBaseQuery } from "@reduxjs/toolkit/query"; // or .../query/react
import { createFetch } from "steadfetch";

/** The base query stands by itself, not inside `retry()`. */
export const makeApi = (baseUrl, fetchFn = createFetch()) =>
  createApi({
    baseQuery: fetchBaseQuery({ baseUrl, fetchFn }),
    endpoints: (build) => ({ report: build.query({ query: () => "report" }) }),
  });
