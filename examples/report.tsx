import { useEffect, useState } from "react";
import type { SteadFetch } from "steadfetch";
import { useRequest } from "steadfetch/react";
import { buttons } from "./buttons";
import { sentence } from "./sentence";

/** Of the attempt is also the body: one that breaks off is asked for again. */
const init = { covers: "body" } as const;

export function Report({ client, url }: { client: SteadFetch; url: string }) {
  const { state, retryNow, retry, cancel } = useRequest(client, url, init);
  const can = buttons(state);

  const response = state.status === "success" ? state.response : undefined;
  const [report, setReport] = useState<{ of: Response; title: string }>();
  useEffect(() => {
    let left = false;
    // A copy, since strict mode runs this twice, and a body can be read once.
    response
      ?.clone()
      .json()
      .then(({ title }) => left || setReport({ of: response, title }))
      .catch(() => left || setReport({ of: response, title: "The report cannot be read" }));
    return () => {
      left = true;
    };
  }, [response]);
  const title = response && report?.of === response ? report.title : undefined;
  const text = response ? (title ?? "") : sentence(state);

  // For screen readers: each state once, and not each second.
  const news = title ?? state.status;
  const [told, tell] = useState({ news, text });
  if (told.news !== news && text) tell({ news, text });

  return (
    <>
      <p>{text}</p>
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
