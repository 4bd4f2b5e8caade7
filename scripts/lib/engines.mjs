// The engines of browsers that the tests run in, and what is missing of each; an empty text when nothing is.
import { missingForChromium, missingForFirefox, missingForWebKit } from "../toolchain.mjs";

export const engines = {
  chromium: { title: "Chromium", missing: missingForChromium },
  firefox: { title: "Firefox ESR", missing: missingForFirefox },
  webkit: { title: "WebKitGTK", missing: missingForWebKit },
};
