// Components that change what they ask for, and ask for what is none of ours. The test steers them by globals.
import { Component, useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { createFetch } from "steadfetch";
import { useCall, useCircuits, useRequest } from "steadfetch/react";

const options = { retry: false, breaker: false };
const clients = [createFetch(options), createFetch(options)];

class Guard extends Component {
  state = {};
  static getDerivedStateFromError(error) {
    return { error };
  }
  render() {
    return this.state.error ? (
      <p id="error">{`${this.state.error.name}: ${this.state.error.message}`}</p>
    ) : (
      this.props.children
    );
  }
}

let set;

function Asking() {
  const [{ client = 0, url, init }, change] = useState({});
  set = change;
  globalThis.renders = (globalThis.renders ?? 0) + 1;
  // Written anew in each render, as most people do.
  const { state } = useRequest(clients[client], url, { headers: { "X-A": "1" }, onState: () => {}, ...init });
  return <p id="asking">{state.status}</p>;
}

function Watching({ call }) {
  return <p id="watching">{useCall(call).status}</p>;
}

function Circuits({ client }) {
  return <p id="circuits">{useCircuits(client).length}</p>;
}

const root = createRoot(document.getElementById("app"));
globalThis.ask = (wanted) => {
  if (!set) flushSync(() => root.render(<Asking />));
  set(wanted);
};
globalThis.watch = (call) =>
  root.render(
    <Guard>
      <Watching call={call} />
    </Guard>,
  );
globalThis.circuits = (client) =>
  root.render(
    <Guard>
      <Circuits client={client} />
    </Guard>,
  );
globalThis.createFetch = createFetch;
