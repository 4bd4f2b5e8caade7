// Composables for Vue 3.
import { computed, getCurrentInstance, onMounted, onScopeDispose, shallowRef, toValue, unref, watch } from "vue";
import type { Call } from "../index.js";
import type * as Api from "../vue.js";
import { follow } from "./lib/follow.ts";
import { Requester } from "./lib/requester.ts";
import { callStore, IDLE, mustBeStore, NO_CALLS, NO_CIRCUITS } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

/** Not on a server, and not before its markup has been taken over. */
function whenMounted(begin: () => void): void {
  if (getCurrentInstance()) onMounted(begin);
  else begin();
}

function useStore<T>(store: () => Store<T>, server: T) {
  const value = shallowRef(server);
  const ticks = shallowRef(0);
  whenMounted(() =>
    watch(
      store,
      (now, _before, onCleanup) => {
        onCleanup(
          follow(
            now,
            (next) => {
              value.value = next;
            },
            () => ticks.value++,
            () => ticks.value,
          ),
        );
      },
      { immediate: true },
    ),
  );
  return computed(() => value.value);
}

export const useCall: typeof Api.useCall = (call) => useStore(() => callStore(toValue(call)), IDLE);

export const useRequest: typeof Api.useRequest = (client, input, init) => {
  const call = shallowRef<Call>();
  const requester = new Requester((now) => {
    call.value = now;
  });
  const wanted = () => requester.want(unref(client), toValue(input), toValue(init));
  whenMounted(() => watch(wanted, (ask) => ask(), { immediate: true }));
  onScopeDispose(() => requester.leave(), true);
  const { retryNow, retry, cancel } = requester;
  return { state: useCall(call), call: computed(() => call.value), retryNow, retry, cancel };
};

export const useCircuits: typeof Api.useCircuits = (client) =>
  useStore(() => mustBeStore(unref(client)?.circuits), NO_CIRCUITS);

export const useClient: typeof Api.useClient = (client) => useStore(() => mustBeStore(unref(client)), NO_CALLS);
