import { createEffect, createSignal } from "solid-js";
import { createRequest } from "steadfetch/solid";
import { client, words } from "../../../lib/client.js";

export function Report(props) {
  const { state } = createRequest(
    () => client,
    () => props.url,
  );
  const [text, setText] = createSignal("");
  createEffect(async () => {
    const { response } = state();
    if (response) setText(`: ${await response.clone().text()}`);
  });
  return (
    <p id="page">
      {words(state())}
      {text()}
    </p>
  );
}
