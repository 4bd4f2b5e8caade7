/** @jsxImportSource preact */
import { render } from "preact";
import { useState } from "preact/hooks";
import "steadfetch/element";
import type { Call } from "steadfetch";
import type {} from "steadfetch/preact";
import { clicked, client, load, messages, place } from "../page";

function Report() {
  const [call, setCall] = useState<Call>();
  return (
    <>
      <button type="button" onClick={() => setCall(load())}>
        Load
      </button>
      <steadfetch-status call={call} messages={messages} lang="en" />
      <steadfetch-status client={client} onsteadfetch-try-now={clicked} />
    </>
  );
}

render(<Report />, place);
