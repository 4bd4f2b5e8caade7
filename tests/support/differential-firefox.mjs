// Firefox through geckodriver, with the few commands that a comparison needs.

import { spawn } from "node:child_process";

const PATIENCE = 600_000;

/** Starts both. `evaluate(text)` gives the value of an expression in the page, promises awaited. */
export async function launchFirefox(browser, driver) {
  const child = spawn(driver, ["--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("close", () => reject(new Error(`geckodriver ended: ${text}`)));
    child.stdout.setEncoding("utf8").on("data", (part) => {
      text += part;
      const [, number] = /Listening on [^\s]*:(\d+)/.exec(text) ?? [];
      if (number) resolve(number);
    });
  });
  const command = async (method, route, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/session${route}`, {
      method,
      headers: { "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };

  let session;
  const close = async () => {
    if (session) await command("DELETE", session).catch(() => {});
    child.kill();
  };
  try {
    const alwaysMatch = {
      "moz:firefoxOptions": { binary: browser, args: ["-headless"], prefs: { "network.dns.disablePrefetch": true } },
    };
    const { sessionId, capabilities } = await command("POST", "", { capabilities: { alwaysMatch } });
    session = `/${sessionId}`;
    await command("POST", `${session}/timeouts`, { script: PATIENCE });
    return {
      version: capabilities.browserVersion,
      goto: (url) => command("POST", `${session}/url`, { url }),
      async evaluate(text) {
        const script = `const [text, done] = arguments;
          new Promise((resolve) => resolve(window.eval(text))).then(
            (value) => done({ value: JSON.stringify(value ?? null) }), (error) => done({ error: String(error) + error?.stack }));`;
        const { value, error } = await command("POST", `${session}/execute/async`, { script, args: [text] });
        if (error) throw new Error(error);
        return JSON.parse(value);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
