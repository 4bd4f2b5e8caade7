// For bundlers: the exercise as a classic script, which has no modules around it. In a page it is a global, in a worker
// the answer to a message.
import * as steadfetch from "steadfetch";
import { exercise } from "./exercise.mjs";

globalThis.exercised = (api) => exercise(steadfetch, api);
if (!globalThis.document) {
  globalThis.onmessage = async ({ data }) => postMessage(await globalThis.exercised(data).catch(String));
}
