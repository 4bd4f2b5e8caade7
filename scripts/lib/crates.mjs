// The crates that the project is made of, as cargo knows them.
import { TARGET } from "../toolchain.mjs";
import { Failure, output } from "./run.mjs";

function cargo(args) {
  const found = output("cargo", args);
  if (found === null) throw new Failure(`\`cargo ${args[0]}\` failed`);
  return found;
}

/** Every crate of Cargo.lock, with its licence and its folder. */
export function packages() {
  return JSON.parse(cargo(["metadata", "--format-version", "1", "--locked"])).packages;
}

/** Those that are linked into the WebAssembly, those that only write code for it apart, each as "name v1.2.3". */
export function linked() {
  const tree = cargo(["tree", "-e", "normal,no-proc-macro", "--target", TARGET, "--prefix", "none", "-f", "{p}"]);
  return new Set(
    tree
      .split("\n")
      .filter((line) => line && !line.includes("/"))
      .map((line) => line.split(" ").slice(0, 2).join(" ")),
  );
}
