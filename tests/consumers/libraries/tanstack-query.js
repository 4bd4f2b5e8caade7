import { QueryClient } from "@tanstack/query-core"; // the same in @tanstack/react-query and the others
import { createFetch } from "steadfetch";

const client = createFetch();

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      networkMode: "always", // the client waits for the network itself
    },
  },
});

export const report = (url, fetch = client) => ({
  queryKey: [url],
  queryFn: async ({ signal }) => (await fetch(url, { signal, throwHttpErrors: true })).json(),
});
