// Firefox as its distributor built it, which Playwright drives by WebDriver BiDi.

import { firefox } from "playwright-core";
import { firefox as program } from "../../scripts/toolchain.mjs";

/** What Firefox says itself about a request or a policy comes as an error of the page. */
const REPORTS = /^(Cross-Origin Request Blocked: |Content-Security-Policy: |Failed to load )/;
/** What Firefox learns only when it starts. */
const MEDIA = {
  colorScheme: {
    light: { "layout.css.prefers-color-scheme.content-override": 1 },
    dark: { "layout.css.prefers-color-scheme.content-override": 0 },
  },
  forcedColors: { active: { "browser.display.document_color_use": 2 } },
  reducedMotion: { reduce: { "ui.prefersReducedMotion": 1 }, "no-preference": { "ui.prefersReducedMotion": 0 } },
};

/** @param {string} insecureHost  a name that leads to the loopback address */
export async function launchFirefox(insecureHost) {
  const browsers = new Map();
  const browserWith = (prefs) => {
    const key = JSON.stringify(prefs);
    if (!browsers.has(key)) browsers.set(key, start({ ...prefs, "network.dns.localDomains": insecureHost }));
    return browsers.get(key);
  };
  const first = await browserWith({});

  async function newContext({ colorScheme, forcedColors, reducedMotion, ...options } = {}) {
    const media = Object.entries({ colorScheme, forcedColors, reducedMotion });
    const prefs = Object.assign({}, ...media.map(([name, value]) => MEDIA[name][value]));
    const context = await (await browserWith(prefs)).newContext(options);
    const newPage = context.newPage.bind(context);
    context.newPage = async () => withoutReports(await newPage());
    return context;
  }
  return {
    version: () => first.version(),
    newContext,
    async newPage() {
      const context = await newContext();
      const page = await context.newPage();
      page.close = () => context.close();
      return page;
    },
    close: () => Promise.all([...browsers.values()].map(async (browser) => (await browser).close())),
  };
}

async function start(prefs) {
  const browser = await firefox.launch({
    channel: "moz-firefox",
    executablePath: program(),
    firefoxUserPrefs: {
      // Else it sends a request again by itself, up to nine times, when the connection ends before there is an answer.
      "network.http.request.max-attempts": 1,
      // As in Chromium without a window: else a page is narrower than its window.
      "ui.useOverlayScrollbars": 1,
      ...prefs,
    },
  });
  forgiveMedia(browser);
  return browser;
}

/** Each context is told of media features at its beginning, for which Firefox has no command yet. */
function forgiveMedia(browser) {
  const session = browser._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = (method, params) => {
    const answer = send(method, params);
    if (method !== "emulation.setMediaFeaturesOverride") return answer;
    return answer.catch((error) => {
      if (!/unknown command/.test(error.message)) throw error;
    });
  };
}

function withoutReports(page) {
  const on = page.on.bind(page);
  page.on = (name, listener) =>
    on(name, name === "pageerror" ? (error) => REPORTS.test(error.stack) || listener(error) : listener);
  return page;
}
