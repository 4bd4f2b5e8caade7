// Composables for Vue 3.
import { getCurrentInstance, onMounted, onScopeDispose, shallowRef, toValue, unref, watch } from "vue";
import type { Call } from "../index.js";
import type * as Api from "../vue.js";
import { follow } from "./lib/follow.ts";
import { callStore, makeRequester } from "./lib/requester.ts";
import { IDLE, mustBeStore, NO_CALLS, NONE } from "./lib/stores.ts";
import type { Store } from "./lib/view.ts";

/**
 * `act` is given what `source` has, now and whenever that changes: not on a server, and not before its markup has been
 * taken over. Ends with the scope, which may outlive the component.
 */
function whenMounted<T extends object>(source: () => T, act: (now: T, onCleanup: (end: () => void) => void) => void) {
  const ready = shallowRef(getCurrentInstance()?.isMounted !== false);
  watch(
    () => ready.value && source(),
    (now, _before, onCleanup) => now && act(now, onCleanup),
    { immediate: true },
  );
  if (!ready.value) {
    onMounted(() => {
      ready.value = true;
    });
  }
}

function useStore<T>(store: () => Store<T>, server: T) {
  const value = shallowRef(server);
  const ticks = shallowRef(0);
  whenMounted(store, (now, onCleanup) => {
    onCleanup(
      follow(
        now,
        (next) => void (value.value = next),
        () => ticks.value++,
        () => ticks.value,
      ),
    );
  });
  return value;
}

export const useCall: typeof Api.useCall = (call) => useStore(() => callStore(toValue(call)), IDLE);

export const useRequest: typeof Api.useRequest = (client, input, init) => {
  const call = shallowRef<Call>();
  const requester = makeRequester((now) => {
    call.value = now;
  });
  whenMounted(
    () => requester.want_(unref(client), toValue(input), toValue(init)),
    (ask) => ask(),
  );
  onScopeDispose(() => requester.leave_(), true);
  return { state: useStore(() => requester.store_, IDLE), call, ...requester.actions_ };
};

export const useCircuits: typeof Api.useCircuits = (client) =>
  useStore(() => mustBeStore(unref(client)?.circuits), NONE);

export const useClient: typeof Api.useClient = (client) => useStore(() => mustBeStore(unref(client)), NO_CALLS);

export const useOutbox: typeof Api.useOutbox = (outbox) =>
  useStore(() => mustBeStore(toValue(outbox)), toValue(outbox).getServerSnapshot());
