// Retries as one writes them by hand, and what all peers without own defaults take from it.

export const RETRIES = 3;
export const RETRIED = [408, 425, 429, 500, 502, 503, 504];
/** The first wait; the next is twice as long. */
const DELAY = 250;

export const isFailure = (response) => RETRIED.includes(response.status);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function loop(fetch, { wait } = {}) {
  return async (url, init) => {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await fetch(url, init);
        if (attempt === RETRIES || !isFailure(response)) return response;
      } catch (error) {
        if (attempt === RETRIES || init?.signal?.aborted) throw error;
      }
      await sleep(wait ?? DELAY * 2 ** attempt);
    }
  };
}
