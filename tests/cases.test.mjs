// What users of other libraries reported, each case a test of the built package; tests/cases.md tells where. The files
// cases-*.test.mjs run it in a page whose time is ours.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { IDS, Page } from "./support/cases.mjs";

describe("the list of cases", () => {
  const text = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  const rows = text("tests/cases.md")
    .split("\n")
    .filter((line) => /^\| B\d/.test(line))
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .map(([, id, where, note]) => ({ id, files: [...where.matchAll(/`([^`]+)`/g)].map(([, file]) => file), note }));

  test("has every id once, in their order", () => {
    assert.deepEqual(
      rows.map(({ id }) => id),
      IDS,
    );
  });

  test("says of each where it is tested, or why it is not", () => {
    for (const { id, files, note } of rows) assert.ok(files.length > 0 || note, id);
  });

  test("names only files that name the case", () => {
    for (const { id, files } of rows) {
      for (const file of files) assert.ok(text(file).includes(id), `${file}: ${id}`);
    }
  });

  test("leaves out no file of cases that names one", () => {
    const names = readdirSync(new URL(".", import.meta.url)).filter((name) => /^cases-.*\.test\.mjs$/.test(name));
    for (const name of names) {
      const file = `tests/${name}`;
      const named = new Set(text(file).match(/B\d{3}/g));
      for (const { id, files } of rows) assert.equal(files.includes(file), named.has(id), `${file}: ${id}`);
    }
  });
});

describe("the clean end of a case", () => {
  const left = {
    "live timers": () => setTimeout(() => {}, 1_000),
    "listeners on the caller's signal": (page) => page.controller().signal.addEventListener("abort", () => {}),
    "listeners for online": () => globalThis.addEventListener("online", () => {}),
    "console errors": () => console.error("oh"),
    "reported errors": () => reportError(new Error("oh")),
    "a timer of NaN ms": () => clearTimeout(setTimeout(() => {}, NaN)),
  };
  for (const [what, leave] of Object.entries(left)) {
    test(`sees ${what}`, async () => {
      const page = new Page();
      try {
        leave(page);
        await assert.rejects(page.cleanEnd(), (error) => error.message.startsWith(what));
      } finally {
        page.close();
      }
    });
  }

  test("gives back what it took", () => {
    const before = [setTimeout, clearTimeout, fetch, performance.now, Date.now, console.error];
    new Page().close();
    assert.deepEqual([setTimeout, clearTimeout, fetch, performance.now, Date.now, console.error], before);
  });
});
