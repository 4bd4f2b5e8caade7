// steadfetch/preact: the hooks of steadfetch/react for Preact, without an alias to React.
export * from "./react.js";
