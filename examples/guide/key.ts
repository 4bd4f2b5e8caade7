import { createFetch } from "steadfetch";

export const fetch = createFetch({
  breaker: {
    key({ url }) {
      const { origin, pathname } = new URL(url);
      return pathname.startsWith("/search") ? `${origin}/search` : origin;
    },
  },
});
