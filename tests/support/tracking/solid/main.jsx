import { createSignal } from "solid-js";
import { render } from "solid-js/web";
import { createRequest } from "steadfetch/solid";
import { client, counting, place, wanted } from "../page.js";

function Report() {
  const [which, setWhich] = createSignal(1);
  const [heard, setHeard] = createSignal(0);
  const init = counting(() => setHeard(heard() + 1));
  const { state } = createRequest(
    () => client,
    () => wanted(which()),
    () => init,
  );
  return (
    <>
      <p>
        {state().status}, {heard()} states
      </p>
      <button type="button" onClick={() => setWhich(which() + 1)}>
        Next
      </button>
    </>
  );
}

render(() => <Report />, place);
