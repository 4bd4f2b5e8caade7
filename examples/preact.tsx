import { createFetch } from "steadfetch";
import { useRequest } from "steadfetch/preact";
import { buttons } from "./buttons";
import { sentence } from "./sentence";

const client = createFetch({ onCircuitOpen: "wait", retry: { delay: 2000, jitter: "equal" } });

export function Report({ url }: { url: string }) {
  const { state, retryNow, retry, cancel } = useRequest(client, url);
  const can = buttons(state);
  return (
    <>
      <p>{sentence(state)}</p>
      <button type="button" aria-disabled={!can.tryNow && !can.tryAgain} onClick={can.tryAgain ? retry : retryNow}>
        {can.tryAgain ? "Try again" : "Try now"}
      </button>
      <button type="button" aria-disabled={!can.cancel} onClick={() => cancel()}>
        Cancel
      </button>
    </>
  );
}
