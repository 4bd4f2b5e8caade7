import { createFetch } from "steadfetch";
import { fromRequest } from "steadfetch/xstate";
import { sendTo, setup } from "xstate";

const request = fromRequest(createFetch());

/** Offers the copy of yesterday once a request has waited three times. */
export const report = setup({ actors: { request } }).createMachine({
  initial: "loading",
  states: {
    loading: {
      invoke: {
        src: "request",
        id: "request",
        input: { input: "/report.json" },
        onSnapshot: [
          {
            guard: ({ event }) => ["failed", "exhausted", "circuit-open"].includes(event.snapshot.context.status),
            target: ".failed",
          },
          { guard: ({ event }) => event.snapshot.context.attempt > 3, target: ".offersCopy" },
        ],
        onDone: "shown",
      },
      initial: "patient",
      states: {
        patient: {},
        offersCopy: { on: { useCopy: "#copy" } },
        failed: {
          on: { tryAgain: { target: "patient", actions: sendTo("request", { type: "retry" }) }, useCopy: "#copy" },
        },
      },
      on: { tryNow: { actions: sendTo("request", { type: "retryNow" }) } },
    },
    shown: { type: "final" },
    copy: { id: "copy", type: "final" },
  },
});
