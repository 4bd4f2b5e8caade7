// A session of WebKitGTK: its own X server, the driver, and the browser that the driver starts. One command at a time, each
// in the window that it is for.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { Builder } from "selenium-webdriver";
import { miniBrowser, webkitDriver, xvfb } from "../../../scripts/toolchain.mjs";

const PATIENCE = 20_000;
const SCREEN = "1280x1024x24";

/** @param {Record<string, string>} [env]  for the browser */
export async function startSession(env = {}) {
  const children = [];
  const start = (program, args, options) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], ...options });
    children.push(child);
    return child;
  };
  const stop = () => {
    for (const child of children.reverse()) child.kill();
  };
  try {
    const display = await firstLine(start(xvfb(), ["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"]));
    const port = await freePort();
    start(webkitDriver(), [`--port=${port}`], {
      // The sandbox wants namespaces that a container may not give.
      env: { ...process.env, DISPLAY: `:${display}`, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1", ...env },
    });
    const driver = await connect(`http://127.0.0.1:${port}`);
    return new Session(driver, stop);
  } catch (error) {
    stop();
    throw error;
  }
}

class Session {
  #driver;
  #stop;
  #last = Promise.resolve();
  #first;
  #current;

  constructor(driver, stop) {
    this.#driver = driver;
    this.#stop = stop;
  }

  async version() {
    return (await this.#driver.getCapabilities()).getBrowserVersion();
  }

  /** Runs a command in a window, after those that came before. */
  in(handle, command) {
    return this.#next(async (driver) => {
      if (handle !== this.#current) await driver.switchTo().window(handle);
      this.#current = handle;
      return command(driver);
    });
  }

  /** The handle of a new window. The first one is only for this: without any the browser would end. */
  open() {
    return this.#next(async (driver) => {
      this.#first ??= await driver.getWindowHandle();
      await driver.switchTo().window(this.#first);
      await driver.switchTo().newWindow("window");
      this.#current = await driver.getWindowHandle();
      return this.#current;
    });
  }

  async close(handle) {
    await this.in(handle, (driver) => driver.close());
    this.#current = undefined;
  }

  async end() {
    await this.#driver.quit().catch(() => {});
    this.#stop();
  }

  #next(act) {
    const result = this.#last.then(() => act(this.#driver));
    this.#last = result.catch(() => {});
    return result;
  }
}

async function connect(url) {
  const ready = async () => (await fetch(`${url}/status`)).ok;
  for (const end = Date.now() + PATIENCE; !(await ready().catch(() => false)); ) {
    if (Date.now() > end) throw new Error("WebKit's driver does not answer");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const driver = await new Builder()
    .usingServer(url)
    .withCapabilities({
      browserName: "MiniBrowser",
      "webkitgtk:browserOptions": { binary: miniBrowser(), args: ["--automation"] },
    })
    .build();
  // A limit would be a timer of the page, whose clock may be ours.
  await driver.manage().setTimeouts({ script: null });
  return driver;
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error(`${child.spawnfile} ended`)));
    child.stdout.once("data", (text) => resolve(String(text).trim()));
  });
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}
