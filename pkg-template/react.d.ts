// steadfetch/react: hooks for React 18 and 19, and <steadfetch-status> for its JSX.
import type { DetailedHTMLProps, HTMLAttributes } from "react";
import type { StatusListeners, StatusProperties, SteadfetchStatus } from "./element.js";

export * from "./hooks.js";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "steadfetch-status": DetailedHTMLProps<HTMLAttributes<SteadfetchStatus>, SteadfetchStatus> &
        StatusProperties &
        StatusListeners<"on">;
    }
  }
}
