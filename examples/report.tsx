import { useEffect, useState } from "react";
import type { SteadFetch } from "steadfetch";
import { useRequest } from "steadfetch/react";
import { buttons } from "./buttons";
import { sentence } from "./sentence";

export function Report({ client, url }: { client: SteadFetch; url: string }) {
  const { state, retryNow, retry, cancel } = useRequest(client, url);
  const can = buttons(state);

  const [title, setTitle] = useState<string>();
  useEffect(() => {
    if (state.status !== "success") return;
    let left = false;
    // A copy, since strict mode runs this twice, and a body can be read once.
    const body = state.response.clone().json();
    body.then(
      (report) => left || setTitle(report.title),
      () => left || setTitle("The report cannot be read"),
    );
    return () => {
      left = true;
    };
  }, [state]);

  // For screen readers: each state once, and not each second.
  const text = sentence(state);
  const [told, tell] = useState({ status: state.status, text });
  if (told.status !== state.status) tell({ status: state.status, text });

  return (
    <>
      <p>{state.status === "success" && title ? title : text}</p>
      <p className="visually-hidden" role="status">
        {told.text}
      </p>
      <button type="button" aria-disabled={!can.tryNow && !can.tryAgain} onClick={can.tryAgain ? retry : retryNow}>
        {can.tryAgain ? "Try again" : "Try now"}
      </button>
      <button type="button" aria-disabled={!can.cancel} onClick={() => cancel()}>
        Cancel
      </button>
    </>
  );
}
