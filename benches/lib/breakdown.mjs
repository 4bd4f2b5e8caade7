// What the functions of the wasm take, in a build that keeps their names.
import { readFileSync } from "node:fs";
import { functionsOf } from "../../scripts/lib/functions.mjs";
import { NAMED } from "../../scripts/lib/wasm.mjs";

const SHOWN = 60;

/** The functions of the wasm, the largest by name, and all of them by the module that they are from. */
export function breakdown() {
  const { functions, code, data } = functionsOf(readFileSync(NAMED));
  const modules = {};
  for (const { name, bytes } of functions) modules[moduleOf(name)] = (modules[moduleOf(name)] ?? 0) + bytes;
  const sorted = Object.entries(modules).sort(([, a], [, b]) => b - a);
  return {
    code,
    data,
    count: functions.length,
    modules: Object.fromEntries(sorted),
    largest: functions.slice(0, SHOWN),
  };
}

/** Of our own code the module, of the standard library and others' the crate's; the rest is exported. */
function moduleOf(name) {
  const place = name.match(/(?<![\w:])[a-z]\w*(::[a-z_]\w*)+/)?.[0];
  if (!place) return name.includes("::") ? "other" : "exports";
  const depth = place.startsWith("steadfetch") ? 3 : 2;
  return place.split("::").slice(0, depth).join("::");
}
