// The entry: importing it registers the element.
import type * as Api from "../element.js";
import { SteadfetchStatus } from "./status.ts";

export { SteadfetchStatus };

const NAME = "steadfetch-status";

let defined = false;

export const defineSteadfetchStatus: typeof Api.defineSteadfetchStatus = (name = NAME) => {
  const registry = globalThis.customElements;
  if (!registry || registry.get(name)) return;
  // A class can have one name only.
  registry.define(name, defined ? class extends SteadfetchStatus {} : SteadfetchStatus);
  defined = true;
};

defineSteadfetchStatus();
