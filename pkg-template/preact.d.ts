// steadfetch/preact: the hooks of steadfetch/react for Preact, without an alias to React, and <steadfetch-status> for its
// JSX.
import type { HTMLAttributes } from "preact";
import type { StatusListeners, StatusProperties, SteadfetchStatus } from "./element.js";

export * from "./hooks.js";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "steadfetch-status": HTMLAttributes<SteadfetchStatus> & StatusProperties & StatusListeners<"on">;
    }
  }
}
