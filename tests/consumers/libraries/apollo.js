import { ApolloClient, HttpLink, InMemoryCache } from "@apollo/client";
import { createFetch } from "steadfetch";

/** Without a RetryLink. Queries go as GET, so that they are retried; mutations stay POST, and are sent once. */
export const makeApollo = (uri, fetch = createFetch()) =>
  new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri, fetch, useGETForQueries: true }),
  });
