// Hooks for React 18 and 19, and for Preact: the build puts preact/compat in the place of react for it.
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Call } from "../index.js";
import type * as Api from "../react.js";
import { callStore, makeRequester } from "./lib/requester.ts";
import { IDLE, mustBeStore, NO_CALLS, NONE } from "./lib/stores.ts";
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
  const [requester] = useState(() => makeRequester(setCall));
  useEffect(() => requester.want_(client, input, init)());
  useEffect(() => () => requester.leave_(), [requester]);
  return { state: useStore(requester.store_, IDLE), call, ...requester.actions_ };
};

export const useCircuits: typeof Api.useCircuits = (client) => useStore(mustBeStore(client?.circuits), NONE);

export const useClient: typeof Api.useClient = (client) => useStore(mustBeStore(client), NO_CALLS);

export const useOutbox: typeof Api.useOutbox = (outbox) => useStore(mustBeStore(outbox), outbox.getServerSnapshot());
