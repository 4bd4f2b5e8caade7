// Chromium, one per test file.
//
//   const browser = await launch();       // closes by itself when the file's tests are over
//   const page = await browser.newPage();

import { after } from "node:test";
import { chromium } from "playwright-core";

const EXECUTABLE = process.env.STEADFETCH_CHROMIUM || "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
/** A name that is no secure context, unlike the loopback address that it leads to. */
export const INSECURE_HOST = "steadfetch.test";

let launched;
after(async () => (await launched)?.close());

/** The file's browser, started on first use. */
export function launch() {
  launched ??= chromium.launch({
    executablePath: EXECUTABLE,
    args: [...FLAGS, `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1`],
  });
  return launched;
}
