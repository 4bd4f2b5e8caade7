// Hooks for React 18 and 19, and for Preact: the build puts preact/compat in the place of react for it.
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Call } from "../index.js";
import type * as Api from "../react.js";
import { Requester } from "./lib/requester.ts";
import { callStore, IDLE, mustBeStore, NO_CALLS, NO_CIRCUITS } from "./lib/stores.ts";
import { type Store, view } from "./lib/view.ts";

function useStore<T>(store: Store<T>, server: T): T {
  const [subscribe, get] = useMemo(() => {
    let read = false;
    const { get_, renew_, look_ } = view(store, () => {
      read = true;
    });
    const get = (): T => {
      if (look_() && read) {
        read = false;
        renew_();
      }
      return get_();
    };
    return [(notify: () => void) => store.subscribe(notify), get] as const;
  }, [store]);
  return useSyncExternalStore(subscribe, get, () => server);
}

export const useCall: typeof Api.useCall = (call) => useStore(callStore(call), IDLE);

export const useRequest: typeof Api.useRequest = (client, input, init) => {
  const [call, setCall] = useState<Call>();
  const [requester] = useState(() => new Requester(setCall));
  useEffect(() => requester.want(client, input, init)());
  useEffect(() => () => requester.leave(), [requester]);
  const { retryNow, retry, cancel } = requester;
  return { state: useCall(call), call, retryNow, retry, cancel };
};

export const useCircuits: typeof Api.useCircuits = (client) => useStore(mustBeStore(client?.circuits), NO_CIRCUITS);

export const useClient: typeof Api.useClient = (client) => useStore(mustBeStore(client), NO_CALLS);
