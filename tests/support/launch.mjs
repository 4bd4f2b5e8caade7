// Starts a browser, which whoever asked has to close. Node's own tests have it from browser.mjs, which does.
import { chromium } from "playwright-core";
import * as programs from "../../scripts/toolchain.mjs";

/** A name that is no secure context, unlike the loopback address that it leads to. */
export const insecureHost = (engine) => (engine === "webkit" ? "[::ffff:127.0.0.1]" : "steadfetch.test");

/** Two pages of the address bar that each window has ready, which is half of what a window costs. */
const UNSEEN = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];
/** Playwright's own, of which the last flag leaves nothing. */
const PLAYWRIGHTS = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"],
  ...["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AimEnabled"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"],
];
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  `--disable-features=${[...PLAYWRIGHTS, ...UNSEEN]}`,
];
const STARTS = {
  chromium: (args, without) =>
    chromium.launch({
      executablePath: programs.chromium(),
      ignoreDefaultArgs: without,
      args: [...FLAGS, `--host-resolver-rules=MAP ${insecureHost("chromium")} 127.0.0.1`, ...args],
    }),
  firefox: async () => (await import("./firefox.mjs")).launchFirefox(insecureHost("firefox")),
  webkit: async () => (await import("./webkit/page.mjs")).launchWebKit(),
};

/**
 * @param {"chromium" | "firefox" | "webkit"} engine
 * @param {string[]} [args]  more of them, for Chromium's command line
 * @param {string[]} [without]  those of Playwright that are not wanted there
 */
export const start = (engine, args = [], without = []) => STARTS[engine](args, without);
