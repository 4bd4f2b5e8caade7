// The browsers that the tests run in, each one once per test file. A file runs in the one that the environment names, or
// in Chromium.
//
//   const browser = await launch();       // closes by itself when the file's tests are over
//   const page = await browser.newPage();
//
//   STEADFETCH_ENGINE=firefox node --test tests/tabs.test.mjs

import { after } from "node:test";
import { engines } from "../../scripts/lib/engines.mjs";
import { insecureHost, start } from "./launch.mjs";

export const engine = process.env.STEADFETCH_ENGINE ?? "chromium";
export const { title } = engines[engine];

export const INSECURE_HOST = insecureHost(engine);

/** Whether requests fail while a context is offline; else the page is only told so. */
export const cutsNetwork = engine !== "webkit";

/** How many tests of a file run at a time: elsewhere keys go to the window in front alone. */
export const atOnce = (count) => (engine === "chromium" ? count : 1);

const launched = {};
after(() => Promise.all(Object.values(launched).map(async (browser) => (await browser).close())));

/** The file's browser, started on first use. */
export function launch(name = engine) {
  launched[name] ??= start(name);
  return launched[name];
}

/** What goes wrong in a page, as it comes: exceptions, errors and warnings on the console; not what the server answers. */
export function faultsOf(page) {
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  page.on("console", (message) => {
    const failed = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !failed) faults.push(message.text());
  });
  return faults;
}

/** Why tests whose outboxes have one origin are left out in WebKitGTK: each finds there what the last one left. */
export const OUTBOX = { webkit: "its contexts share one store" };

/**
 * For the options of a test: leaves it out where an engine cannot do what it wants, and says why.
 *
 * @param {Partial<Record<"chromium" | "firefox" | "webkit", string>>} reasons  by engine
 */
export const except = (reasons = {}) => (reasons[engine] ? { skip: `${title}: ${reasons[engine]}` } : {});
