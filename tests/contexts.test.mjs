// The packed package wherever a browser runs scripts: workers of all kinds, files, frames without an origin, pages that
// are isolated. In each the same exercise against a real server.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { launch } from "./support/browser.mjs";
import { HITS, scriptExercise, WORKS } from "./support/contexts/exercise.mjs";
import { blank, browserEntry, install, packageFiles } from "./support/packed.mjs";
import { startServer, until } from "./support/server.mjs";

const PATIENCE = { timeout: 60_000 };
const HTML = { "Content-Type": "text/html" };
const SCRIPT = { "Content-Type": "text/javascript" };
const sources = fileURLToPath(new URL("support/contexts/", import.meta.url));
const out = fileURLToPath(new URL("../target/contexts/", import.meta.url));
const EXERCISES = ["exercise.mjs", "worker.mjs", "service-worker.mjs"];
/** Both isolate a page from others; they differ in what a resource has to say to be let in. */
const EMBEDDERS = ["require-corp", "credentialless"];

let files;
let context;
let page;
let server;
let faults;

before(async () => {
  files = await packageFiles(await pages());
});

beforeEach(async () => {
  context = await (await launch()).newContext();
  page = await context.newPage();
  faults = [];
  page.on("pageerror", (error) => faults.push(error.stack));
  server = await startServer({ cors: "Retry-After", files: readable });
  scriptExercise(server);
  await page.goto(server.url);
});

afterEach(async () => {
  await context.close();
  await server.close();
});

/** A frame without an origin gets a module only where that is allowed. */
function readable(request, response) {
  response.setHeader("Access-Control-Allow-Origin", "*");
  return files(request, response);
}

/** The scripts as modules, and as classic ones that a bundler has made; pages that embed them. */
async function pages() {
  const entry = `/steadfetch/${await browserEntry()}`;
  // There are no import maps in a worker.
  const module = (name) =>
    readFileSync(path.join(sources, name), "utf8").replace('"steadfetch"', JSON.stringify(entry));
  const scripts = Object.fromEntries(EXERCISES.map((name) => [`/${name}`, { headers: SCRIPT, body: module(name) }]));
  for (const name of ["classic", "service-worker"]) {
    scripts[`/${name}.iife.js`] = { headers: SCRIPT, body: await classic(`${name}.mjs`) };
  }
  for (const embedder of EMBEDDERS) {
    const isolated = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": embedder };
    scripts[`/${embedder}`] = { headers: { ...HTML, ...isolated }, body: blank() };
    scripts[`/${embedder}/worker.mjs`] = {
      headers: { ...SCRIPT, ...isolated },
      body: module("worker.mjs").replace("./", "/"),
    };
  }
  return {
    ...scripts,
    "/empty": { headers: HTML, body: blank() },
  };
}

/** One script without imports, as bundlers make it. */
async function classic(name) {
  const result = await build({
    entryPoints: [path.join(sources, name)],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    alias: { steadfetch: path.join(await install(), "node_modules", "steadfetch") },
    logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

/** The exercise in a page or a frame that can load modules. */
async function inFrame(frame, api) {
  const entry = `/steadfetch/${await browserEntry()}`;
  return frame.evaluate(
    async ({ entry, api }) => {
      const { exercise } = await import("/exercise.mjs");
      return exercise(await import(entry), api);
    },
    { entry, api },
  );
}

/** The exercise in a worker of a page; `how` is the text of an expression that gives what has its port. */
const inWorker = (how, api = server.url) =>
  page.evaluate(
    `new Promise((resolve, reject) => {
      const worker = ${how};
      const port = worker.port ?? worker;
      worker.onerror = ({ message }) => reject(new Error(message ?? "it did not load"));
      port.onmessage = ({ data }) => resolve(data);
      port.postMessage(${JSON.stringify(api)});
    })`,
  );

function works(result) {
  assert.deepEqual(result, WORKS);
  const hits = Object.fromEntries(Object.keys(HITS).map((path) => [path, server.hits(path).length]));
  assert.deepEqual(hits, HITS);
  assert.deepEqual(faults, []);
}

describe("the package in a worker", () => {
  test("of one page works", PATIENCE, async () => {
    works(await inWorker('new Worker("/worker.mjs", { type: "module" })'));
  });

  test("that is a classic script works", PATIENCE, async () => {
    works(await inWorker('new Worker("/classic.iife.js")'));
  });

  test("that a bundler has put into the page's own script works", PATIENCE, async () => {
    await page.evaluate(async () => {
      globalThis.text = await (await fetch("/classic.iife.js")).text();
    });
    works(await inWorker("new Worker(URL.createObjectURL(new Blob([text])))"));
  });

  test("that pages share works", PATIENCE, async () => {
    works(await inWorker('new SharedWorker("/worker.mjs", { type: "module" })'));
  });
});

for (const [kind, script, type] of [
  ["a module", "/service-worker.mjs", "module"],
  ["a classic script", "/service-worker.iife.js", "classic"],
]) {
  describe(`a service worker that is ${kind}`, () => {
    beforeEach(async () => {
      await page.evaluate(
        async ([script, type]) => {
          const controlled = new Promise((resolve) => {
            navigator.serviceWorker.oncontrollerchange = resolve;
          });
          await navigator.serviceWorker.register(script, { type });
          await controlled;
        },
        [script, type],
      );
    });

    test("has a client that works", PATIENCE, async () => {
      const result = await page.evaluate(
        (api) =>
          new Promise((resolve) => {
            navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
            navigator.serviceWorker.controller.postMessage(api);
          }),
        server.url,
      );
      works(result);
    });

    test("answers what its page fetches, with a retry that the page does not see", PATIENCE, async () => {
      server.script("/through/x", [503, { body: "hello" }]);
      const answer = await page.evaluate(async () => (await fetch("/through/x")).text());
      assert.equal(answer, "hello");
      assert.equal(server.hits("/through/x").length, 2);
    });

    test("sends the body of its page's request again", PATIENCE, async () => {
      server.script("/through/x", [503, 200]);
      const status = await page.evaluate(
        async () => (await fetch("/through/x", { method: "PUT", body: "all of it" })).status,
      );
      assert.equal(status, 200);
      const bodies = server.hits("/through/x").map(({ method, text }) => `${method} ${text}`);
      assert.deepEqual(bodies, ["PUT all of it", "PUT all of it"]);
    });

    test("answers with a document, too", PATIENCE, async () => {
      server.script("/through/page", [503, { body: "<title>hello</title>", headers: HTML }]);
      await page.goto(`${server.url}/through/page`);
      assert.equal(await page.title(), "hello");
      assert.equal(server.hits("/through/page").length, 2);
    });
  });
}

describe("the package in a page from file:", () => {
  for (const [how, charset] of [
    ["works as a classic script", '<meta charset="utf-8">'],
    ["works where the page does not say how it is encoded", ""],
  ]) {
    test(how, PATIENCE, async () => {
      mkdirSync(out, { recursive: true });
      const file = path.join(out, charset ? "page.html" : "unsaid.html");
      writeFileSync(path.join(out, "classic.js"), await classic("classic.mjs"));
      writeFileSync(file, `<!doctype html><html lang="en">${charset}<script src="classic.js"></script>`);
      await page.goto(pathToFileURL(file).href);
      assert.equal(await page.evaluate(() => origin), "null");
      works(await page.evaluate((api) => globalThis.exercised(api), server.url));
    });
  }
});

/** Frames of the page, each by its attributes. */
async function frames(...attributes) {
  await page.evaluate(
    (markup) => {
      document.body.innerHTML = markup;
    },
    attributes.map((text) => `<iframe ${text}></iframe>`).join(""),
  );
  await until(() => page.frames().length === attributes.length + 1, "the frames");
  const made = page.frames().slice(1);
  for (const frame of made) await frame.waitForLoadState();
  return made;
}

/** Opens a circuit in one and gives what another, which would share it, has heard of it. */
async function heardOf(telling, listening) {
  const entry = `/steadfetch/${await browserEntry()}`;
  const share = { breaker: { share: "tabs", consecutiveFailures: 1, halfOpenAfter: 300_000, maxOpen: 300_000 } };
  await listening.evaluate(
    async ({ entry, share }) => {
      const { createFetch } = await import(entry);
      globalThis.listening = createFetch(share);
    },
    { entry, share },
  );
  await telling.evaluate(
    async ({ entry, share, url }) => {
      const { createFetch } = await import(entry);
      globalThis.telling = createFetch({ ...share, retry: false });
      await globalThis.telling(url);
    },
    { entry, share, url: `${server.url}/down` },
  );
  // As long as it takes tabs that do share, many times over.
  await page.waitForTimeout(500);
  return listening.evaluate(() => globalThis.listening.circuits.getSnapshot().map(({ status }) => status));
}

describe("the package in a frame", () => {
  test("without an origin works, although it may have nothing of the browser's stores", PATIENCE, async () => {
    const [frame] = await frames('sandbox="allow-scripts" src="/empty"');
    const refused = await frame.evaluate(async () => {
      const name = (error) => error.name;
      const storage = (() => {
        try {
          return String(globalThis.localStorage);
        } catch (error) {
          return name(error);
        }
      })();
      return [origin, storage, await navigator.locks.request("x", () => "granted").catch(name)];
    });
    assert.deepEqual(refused, ["null", "SecurityError", "SecurityError"]);
    works(await inFrame(frame, server.url));
  });

  test("without an origin hears of no circuit of another", PATIENCE, async () => {
    const [one, other] = await frames(...Array(2).fill('sandbox="allow-scripts" src="/empty"'));
    assert.deepEqual(await heardOf(one, other), []);
    assert.deepEqual(await heardOf(page, other), []);
  });

  test("of the same origin hears of the page's circuits", PATIENCE, async () => {
    const [frame] = await frames('src="/empty"');
    assert.deepEqual(await heardOf(page, frame), ["open"]);
  });

  test("without credentials works, and hears of no circuit of the page", PATIENCE, async () => {
    const [frame] = await frames('credentialless src="/empty"');
    assert.equal(await frame.evaluate(() => credentialless), true);
    works(await inFrame(frame, server.url));
    assert.deepEqual(await heardOf(page, frame), []);
  });

  test("of another origin works, with the server of the page and with its own", PATIENCE, async () => {
    const [frame] = await frames(`src="${server.origin2}/empty"`);
    works(await inFrame(frame, server.url));
    assert.deepEqual(await heardOf(page, frame), []);
    scriptExercise(server);
    assert.deepEqual(await inFrame(frame, server.origin2), WORKS);
  });
});

describe("the package where the page is isolated from others", () => {
  for (const embedder of EMBEDDERS) {
    test(`by ${embedder} works in the page`, PATIENCE, async () => {
      await page.goto(`${server.url}/${embedder}`);
      assert.equal(await page.evaluate(() => crossOriginIsolated), true);
      works(await inFrame(page, server.origin2));
    });

    test(`by ${embedder} works in its worker`, PATIENCE, async () => {
      await page.goto(`${server.url}/${embedder}`);
      works(await inWorker(`new Worker("/${embedder}/worker.mjs", { type: "module" })`, server.origin2));
    });
  }
});
