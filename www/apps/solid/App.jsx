import { createEffect, createResource, createSignal, For, Show } from "solid-js";
import { createRequest, fromCall, fromCircuits, fromClient, fromOutbox } from "steadfetch/solid";
import { postComment, reportUrl } from "../lib/backend.js";
import { circuitLine, clientLine, commentLine, detail, headline, offers, outboxLine, rendered } from "../lib/words.js";

/** `first` is the number of the load to begin with; 0 is none. */
export function App(props) {
  const [load, setLoad] = createSignal(props.first);
  const [open, setOpen] = createSignal(true);
  const circuits = fromCircuits(() => props.client);
  const counts = fromClient(() => props.client);
  return (
    <>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => setLoad(load() + 1)}>
          Load report
        </button>
        <button type="button" onClick={() => setOpen(!open())}>
          {open() ? "Close panel" : "Open panel"}
        </button>
      </p>
      <Show when={open()}>
        <Report client={props.client} url={load() > 0 && reportUrl(load())} />
      </Show>
      <p class="circuits">{circuitLine(circuits())}</p>
      <p class="counts note">{clientLine(counts())}</p>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => postComment(props.outbox)}>
          Post comment
        </button>
      </p>
      <Comments outbox={props.outbox} />
      <Kept outbox={props.outbox} />
    </>
  );
}

function Report(props) {
  const request = createRequest(
    () => props.client,
    () => props.url,
  );
  const { state, call } = request;
  const can = () => offers(state());
  const [report] = createResource(
    () => state().status === "success" && state().response,
    (response) => response.clone().json(),
  );
  createEffect(() => {
    headline(state());
    rendered("report");
  });
  return (
    <div class="panel" data-status={state().status}>
      <p class="headline">{headline(state())}</p>
      <p class="detail">{detail(state())}</p>
      <Badge call={call()} />
      <Show when={state().status === "success" && report()}>{(loaded) => <p class="report">{loaded().title}</p>}</Show>
      <p class="buttons">
        <button type="button" class="primary" aria-disabled={can().rests} onClick={() => can().go(request)}>
          {can().again}
        </button>
        <button type="button" aria-disabled={!can().cancel} onClick={() => request.cancel()}>
          Cancel
        </button>
      </p>
    </div>
  );
}

/** Shows the status alone: a tick does not run it anew. */
function Badge(props) {
  const state = fromCall(() => props.call);
  createEffect(() => {
    state().status;
    rendered("badge");
  });
  return <p class="badge">{state().status}</p>;
}

function Comments(props) {
  const snapshot = fromOutbox(() => props.outbox);
  const all = () => [...snapshot().entries, ...snapshot().rejected];
  createEffect(() => {
    all().map(commentLine);
    rendered("comments");
  });
  return (
    <ul class="comments">
      <For each={all()}>
        {(entry) => (
          <li>
            <span>{commentLine(entry)}</span>
            <button type="button" onClick={entry.retryNow}>
              Send now
            </button>
            <button type="button" onClick={entry.cancel}>
              Take back
            </button>
          </li>
        )}
      </For>
    </ul>
  );
}

/** Shows how many there are: a tick does not run it anew. */
function Kept(props) {
  const snapshot = fromOutbox(() => props.outbox);
  createEffect(() => {
    outboxLine(snapshot());
    rendered("kept");
  });
  return <p class="kept note">{outboxLine(snapshot())}</p>;
}
