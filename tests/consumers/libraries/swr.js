import { createFetch } from "steadfetch";

/** For `<SWRConfig value={swrOptions()}>`. */
export const swrOptions = (fetch = createFetch()) => ({
  fetcher: async (url) => (await fetch(url, { throwHttpErrors: true })).json(),
  shouldRetryOnError: false,
});
