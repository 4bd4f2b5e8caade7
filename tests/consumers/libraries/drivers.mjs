// How a test asks through each recipe: `(url, client)` gives
//
//   get()       the data, or a rejection with the library's own error
//   cancel()    the library's own cancel
//   status(e)   what the library's own error says of an HTTP failure
//   close()     lets go of what it keeps, where it keeps something
//   insist()    like get(), but with two retries of the library's left on

import { gql } from "@apollo/client";
import { RetryLink } from "@apollo/client/link/retry";
import { configureStore } from "@reduxjs/toolkit";
import { createApi, fetchBaseQuery, retry } from "@reduxjs/toolkit/query";
import { environmentManager, QueryObserver } from "@tanstack/query-core";
import { isAxiosError } from "axios";
import { HTTPError } from "ky";
import { FetchError } from "ofetch";
import { createElement } from "react";
import { create } from "react-test-renderer";
import { isHttpError } from "steadfetch";
import useSWR, { SWRConfig } from "swr";
import { makeApollo } from "./apollo.js";
import { makeAxios } from "./axios.js";
import { makeKy } from "./ky.js";
import { makeOfetch } from "./ofetch.js";
import { makeClient } from "./openapi-fetch.js";
import { makeApi } from "./rtk-query.js";
import { swrOptions } from "./swr.js";
import { queryClient, report } from "./tanstack-query.js";

/** What a signal of the caller's does for libraries that take one. */
function withSignal(ask, insist) {
  const controller = new AbortController();
  return { get: () => ask({ signal: controller.signal }), cancel: () => controller.abort(), insist };
}

// On a server it would not retry by itself.
environmentManager.setIsServer(() => false);

function tanstackQuery(url, client) {
  const query = report(url, client);
  // As a component does; fetchQuery() has no retries unless told to.
  const observe = (more) =>
    new Promise((resolve, reject) => {
      new QueryObserver(queryClient, { ...query, ...more }).subscribe(({ data, error }) => {
        if (data) resolve(data);
        if (error) reject(error);
      });
    });
  return {
    get: () => observe({ retryDelay: 1 }),
    cancel: () => queryClient.cancelQueries({ queryKey: query.queryKey }),
    status: (error) => isHttpError(error) && error.response.status,
    insist: () => observe({ retry: 2, retryDelay: 1 }),
    close: () => queryClient.clear(),
  };
}

function swr(url, client) {
  let root;
  /** Renders a component until it has data, or has failed that often. */
  const show = (more, failures) => {
    let failed = 0;
    return new Promise((resolve, reject) => {
      const Report = () => {
        const { data } = useSWR(url);
        if (data) resolve(data);
        return null;
      };
      const onError = (error) => ++failed === failures && reject(error);
      const value = { ...swrOptions(client), provider: () => new Map(), ...more, onError };
      root = create(createElement(SWRConfig, { value }, createElement(Report)));
    });
  };
  return {
    get: () => show({}, 1),
    status: (error) => isHttpError(error) && error.response.status,
    insist: () => show({ shouldRetryOnError: true, errorRetryInterval: 1, errorRetryCount: 2 }, 3),
    unmount: () => root.unmount(),
  };
}

function apollo(url, client) {
  const query = gql`query { report { text } }`;
  const made = makeApollo(url, client);
  let subscription;
  return {
    get: () =>
      new Promise((resolve, reject) => {
        subscription = made.watchQuery({ query }).subscribe(({ data, error, loading }) => {
          if (error) reject(error);
          else if (!loading) resolve(data.report);
        });
      }),
    cancel: () => subscription.unsubscribe(),
    status: (error) => error.name === "ServerError" && error.statusCode,
    insist: () => {
      const retrying = new RetryLink({ delay: { initial: 1, jitter: false }, attempts: { max: 3 } });
      made.setLink(retrying.concat(made.link));
      return made.query({ query });
    },
    write: () => made.mutate({ mutation: gql`mutation { report { text } }` }),
  };
}

function rtkQuery(url, client) {
  const baseUrl = new URL(".", url).href;
  const ask = (api) => {
    const store = configureStore({
      reducer: { api: api.reducer },
      middleware: (defaults) => defaults().concat(api.middleware),
    });
    return store.dispatch(api.endpoints.report.initiate());
  };
  let asked;
  return {
    get: () => (asked = ask(makeApi(baseUrl, client))).unwrap(),
    cancel: () => asked.abort(),
    status: (error) => error.status,
    insist: () => {
      const baseQuery = retry(fetchBaseQuery({ baseUrl, fetchFn: client }), { maxRetries: 2, backoff: async () => {} });
      const endpoints = (build) => ({ report: build.query({ query: () => "report" }) });
      return ask(createApi({ baseQuery, endpoints })).unwrap();
    },
  };
}

function openapiFetch(url, client) {
  const { origin, pathname } = new URL(url);
  const ask = async (init) => {
    const { data, error, response } = await makeClient(origin, client).GET(pathname, init);
    if (data) return data;
    throw { said: error, status: response.status };
  };
  return { ...withSignal(ask), status: ({ said, status }) => said && status };
}

function kyDriver(url, client) {
  const made = makeKy(client);
  const stubborn = made.extend({ retry: { limit: 2, delay: () => 1 } });
  const ask = (init) => made.get(url, init).json();
  return {
    ...withSignal(ask, () => stubborn.get(url).json()),
    status: (error) => error instanceof HTTPError && error.response.status,
  };
}

function ofetchDriver(url, client) {
  const made = makeOfetch(client);
  return {
    ...withSignal(
      (init) => made(url, init),
      () => made(url, { retry: 2, retryDelay: 1 }),
    ),
    status: (error) => error instanceof FetchError && error.status,
  };
}

function axiosDriver(url, client) {
  const ask = async (init) => (await makeAxios(client).get(url, init)).data;
  return { ...withSignal(ask), status: (error) => isAxiosError(error) && error.response.status };
}

export const drivers = {
  "TanStack Query": tanstackQuery,
  SWR: swr,
  "Apollo Client": apollo,
  "RTK Query": rtkQuery,
  "openapi-fetch": openapiFetch,
  ky: kyDriver,
  ofetch: ofetchDriver,
  axios: axiosDriver,
};
