// The exercise as the answer to a message, in a worker that may be shared.
import * as steadfetch from "steadfetch";
import { exercise } from "./exercise.mjs";

const answer = (port) => {
  port.onmessage = async ({ data }) => {
    port.postMessage(await exercise(steadfetch, data).catch(String));
  };
};

if ("onconnect" in globalThis) globalThis.onconnect = ({ ports: [port] }) => answer(port);
else answer(globalThis);
