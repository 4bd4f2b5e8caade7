/** @jsxImportSource solid-js */
import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import "steadfetch/element";
import type { Call } from "steadfetch";
import type {} from "steadfetch/solid";
import { clicked, client, load, messages, place } from "../page";

function Report() {
  const [call, setCall] = createSignal<Call>();
  return (
    <>
      <button type="button" onClick={() => setCall(load())}>
        Load
      </button>
      <steadfetch-status call={call()} messages={messages} lang="en" />
      <steadfetch-status client={client} on:steadfetch-try-now={clicked} />
    </>
  );
}

render(() => <Report />, place);
