// The code of the READMEs and of the guide, each block as it stands there, run before a server that fails as told: in
// Chromium, in Node or in a shell. What it has to show is beside its name in support/examples/.
//
//   node --test --test-name-pattern="write.ts" tests/guide.test.mjs

import { describe, test } from "node:test";
import { byHand, run } from "./support/examples/index.mjs";
import { open, openNode } from "./support/examples/lab.mjs";
import { openShell } from "./support/examples/shell.mjs";

const PLACES = { page: open, node: openNode, shell: openShell };

describe("the example", { concurrency: 3 }, () => {
  for (const [name, ways] of Object.entries(run)) {
    for (const { title, in: place = "page", ...way } of [ways].flat()) {
      const skip = place === "shell" && process.platform === "win32" && "there is no sh";
      test(`${name} ${title}`, { skip, timeout: 120_000 }, async () => {
        const lab = await PLACES[place](way);
        let ended = false;
        try {
          await way.run(lab);
          ended = true;
        } finally {
          // What closing finds is told only where nothing else went wrong.
          await lab.close().catch((error) => {
            if (ended) throw error;
          });
        }
      });
    }
  }

  for (const [name, reason] of Object.entries(byHand)) test(name, { skip: reason }, () => {});
});
