// The entries of the package as it is built, for tools that read its types. These bring a TypeScript of their own, so
// they live beside.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Failure, root } from "./run.mjs";

export const pkg = path.join(root, "pkg");
export const require = createRequire(path.join(root, "tests", "consumers", "docs", "package.json"));

/** How they are compiled. */
export const COMPILER = {
  target: "es2024",
  lib: ["es2024", "dom", "dom.iterable"],
  module: "esnext",
  moduleResolution: "bundler",
  strict: true,
  skipLibCheck: true,
  types: [],
};

/** Each with the name by which it is imported, its code and its types, as paths from pkg/. */
export function entries() {
  const manifest = path.join(pkg, "package.json");
  if (!existsSync(manifest)) throw new Failure("pkg/ is not built", "Run: npm run build");
  return Object.entries(JSON.parse(readFileSync(manifest, "utf8")).exports)
    .filter(([name]) => name !== "./package.json")
    .map(([name, { types, default: code }]) => ({ name: path.posix.join("steadfetch", name), types, code }));
}
