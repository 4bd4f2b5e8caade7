// Every example, and where it is run: by tests/guide.test.mjs if there is a way to run it here, else by the test that is
// named. examples/check.mjs compares this with examples/ and with the documents.

import { guide } from "./guide.mjs";
import { readme } from "./readme.mjs";

/** To run here: each one or more of `{ title, in, steps, run }`; `in` is "page" (the default), "node" or "shell". */
export const run = { ...readme, ...guide };

/** Each by the test that runs it, which has its name. */
export const elsewhere = {
  "buttons.ts": "tests/readme.test.mjs",
  "sentence.ts": "tests/readme.test.mjs",
  "react.tsx": "tests/readme.test.mjs",
  "preact.tsx": "tests/readme.test.mjs",
  "vue.vue": "tests/readme.test.mjs",
  "svelte.svelte": "tests/readme.test.mjs",
  "solid.tsx": "tests/readme.test.mjs",
  "angular.ts": "tests/readme.test.mjs",
  "lit.ts": "tests/readme.test.mjs",
  "report.tsx": "examples/report.test.tsx",
  "report.test.tsx": "tests/testing.test.mjs",
  "guide/timers.test.ts": "tests/testing.test.mjs",
};

/** Run by no test, each for a reason. */
export const byHand = {
  "commands.sh": "they run until they are ended, and every test, this one among them",
};
