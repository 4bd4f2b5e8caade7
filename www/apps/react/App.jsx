import { memo, useEffect, useState } from "react";
import { useCall, useCircuits, useClient, useOutbox, useRequest } from "steadfetch/react";
import { postComment, reportUrl } from "../lib/backend.js";
import { circuitLine, clientLine, commentLine, detail, headline, offers, outboxLine, rendered } from "../lib/words.js";

/** `first` is the number of the load to begin with; 0 is none. */
export function App({ client, outbox, first }) {
  const [load, setLoad] = useState(first);
  const [open, setOpen] = useState(true);
  rendered("app");
  return (
    <>
      <p className="buttons">
        <button type="button" className="primary" onClick={() => setLoad(load + 1)}>
          Load report
        </button>
        <button type="button" onClick={() => setOpen(!open)}>
          {open ? "Close panel" : "Open panel"}
        </button>
      </p>
      {open && <Report client={client} url={load > 0 && reportUrl(load)} />}
      <Circuits client={client} />
      <Counts client={client} />
      <p className="buttons">
        <button type="button" className="primary" onClick={() => postComment(outbox)}>
          Post comment
        </button>
      </p>
      <Comments outbox={outbox} />
      <Kept outbox={outbox} />
    </>
  );
}

function Report({ client, url }) {
  const request = useRequest(client, url);
  const { state, call } = request;
  const can = offers(state);
  rendered("report");
  return (
    <div className="panel" data-status={state.status}>
      <p className="headline">{headline(state)}</p>
      <p className="detail">{detail(state)}</p>
      <Badge call={call} />
      {state.status === "success" && <Title response={state.response} />}
      <p className="buttons">
        <button type="button" className="primary" aria-disabled={can.rests} onClick={() => can.go(request)}>
          {can.again}
        </button>
        <button type="button" aria-disabled={!can.cancel} onClick={() => request.cancel()}>
          Cancel
        </button>
      </p>
    </div>
  );
}

/** Shows the status alone: a tick does not render it. */
const Badge = memo(function Badge({ call }) {
  const { status } = useCall(call);
  rendered("badge");
  return <p className="badge">{status}</p>;
});

function Title({ response }) {
  const [title, setTitle] = useState("");
  useEffect(() => {
    let here = true;
    response
      .clone()
      .json()
      .then((report) => here && setTitle(report.title));
    return () => {
      here = false;
    };
  }, [response]);
  return <p className="report">{title}</p>;
}

function Circuits({ client }) {
  return <p className="circuits">{circuitLine(useCircuits(client))}</p>;
}

function Counts({ client }) {
  rendered("counts");
  return <p className="counts note">{clientLine(useClient(client))}</p>;
}

function Comments({ outbox }) {
  const { entries, rejected } = useOutbox(outbox);
  rendered("comments");
  return (
    <ul className="comments">
      {[...entries, ...rejected].map((entry) => (
        <li key={entry.id}>
          <span>{commentLine(entry)}</span>
          <button type="button" onClick={entry.retryNow}>
            Send now
          </button>
          <button type="button" onClick={entry.cancel}>
            Take back
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Shows how many there are: a tick does not render it. */
function Kept({ outbox }) {
  rendered("kept");
  return <p className="kept note">{outboxLine(useOutbox(outbox))}</p>;
}
