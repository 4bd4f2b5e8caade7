// The package as its users get it: packed, then installed in an empty project.
//
//   const project = await install();                      // a folder with node_modules/steadfetch
//   const server = await startServer({ files: await packageFiles() });   // "/" is a blank page that can import it

import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL("../../pkg", import.meta.url));

const TYPES = {
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".cjs": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
  ".html": "text/html",
};

let installed;

/** The folder of an empty project that has the packed package installed; once per process, gone when it ends. */
export function install() {
  installed ??= packAndInstall();
  return installed;
}

/** The installed package or an entry of it such as "outbox", as its users in Node have it. */
export async function load(entry = "") {
  const require = createRequire(`${await install()}/index.js`);
  return import(pathToFileURL(require.resolve(path.posix.join("steadfetch", entry))));
}

async function packAndInstall() {
  if (!existsSync(path.join(PACKAGE, "package.json"))) throw new Error("pkg/ is not built: run `npm run build` first");
  const folder = await mkdtemp(path.join(tmpdir(), "steadfetch-packed-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

  const { stdout } = await run("npm", ["pack", PACKAGE, "--pack-destination", folder, "--json"], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout);
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ name: "empty-project", private: true }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], { cwd: folder });
  return folder;
}

/** The path under node_modules/steadfetch that a browser is given for `import ... from "steadfetch"`. */
export async function browserEntry() {
  return (await browserEntries()).steadfetch;
}

/** The same for each name that the package exports, such as "steadfetch/element". */
async function browserEntries() {
  const manifest = JSON.parse(
    await readFile(path.join(await install(), "node_modules/steadfetch/package.json"), "utf8"),
  );
  return Object.fromEntries(
    Object.entries(manifest.exports)
      .filter(([subpath]) => subpath !== "./package.json")
      .map(([subpath, target]) => [path.posix.join("steadfetch", subpath), path.posix.normalize(pick(target))]),
  );
}

/** The target of conditional exports in a browser: the first condition that holds. */
function pick(target) {
  if (typeof target === "string") return target;
  const held = Object.keys(target).find((condition) => ["browser", "import", "module", "default"].includes(condition));
  if (!held) throw new Error(`no entry for a browser in ${JSON.stringify(target)}`);
  return pick(target[held]);
}

/**
 * Answers "/" with a blank page where `import("steadfetch")` works and so do its subpaths, "/steadfetch/..." with the installed files, and the
 * pages given, whose body may be made of what such an import wants in the head. For `startServer({ files })`. The
 * connection ends with each answer: what a test sends afterwards never goes over a used one, which browsers treat
 * differently.
 *
 * @param {Record<string, { headers?: Record<string, string>, body: string | ((head: string) => string) }>} [pages]
 */
export async function packageFiles(pages = {}) {
  const root = path.join(await install(), "node_modules/steadfetch");
  const imports = JSON.stringify({
    imports: Object.fromEntries(
      Object.entries(await browserEntries()).map(([name, file]) => [name, `/steadfetch/${file}`]),
    ),
  });
  const head = `<script type="importmap">${imports}</script>`;
  const all = { "/": { headers: { "Content-Type": "text/html" }, body: blank }, ...pages };

  return (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const send = (body, headers) => response.writeHead(200, { Connection: "close", ...headers }).end(body);
    if (Object.hasOwn(all, pathname)) {
      const { body, headers } = all[pathname];
      send(typeof body === "function" ? body(head) : body, headers);
      return true;
    }
    if (!pathname.startsWith("/steadfetch/")) return false;
    const file = path.join(root, path.posix.normalize(pathname.slice("/steadfetch".length)));
    readFile(file).then(
      (body) => send(body, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" }),
      () => response.writeHead(404, { Connection: "close" }).end(),
    );
    return true;
  };
}

/** An HTML page without anything in it, not even a request for an icon. */
export function blank(head = "") {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>blank</title><link rel="icon" href="data:,">${head}`;
}
