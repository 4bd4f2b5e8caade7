// Writes what docs/crashes.json says into the README of the package, between `<!-- crashes -->` and its end. `--check` writes
// nothing and fails where the README says something else.
import { readFileSync } from "node:fs";
import path from "node:path";
import { table } from "../benches/lib/figures.mjs";
import { fillReadmes } from "./lib/readme.mjs";
import { exitWith, root } from "./lib/run.mjs";

const NAMES = {
  schedules: "Schedules",
  crashes: "Crashes",
  accepted: "Entries stored",
  delivered: "delivered",
  sentAgain: "requests sent again",
  doubled: "doubled in effect",
  lost: "lost",
  outOfOrder: "out of order",
};

function main() {
  const { total, engine, seed } = JSON.parse(readFileSync(path.join(root, "docs", "crashes.json"), "utf8"));
  const rows = Object.entries(NAMES).map(([name, title]) => [title, total[name].toLocaleString("en")]);
  const text = `\n\n${table([`${engine}, seed ${seed}`, ""], rows)}\n`;
  const readmes = ["pkg-template/README.md"];
  fillReadmes({ crashes: text }, { what: "the figures of the crashes", script: "scripts/readme-crashes.mjs", readmes });
}

await Promise.resolve().then(main).catch(exitWith);
