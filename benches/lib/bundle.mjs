// What a page gets of a module that imports the peers: one file, as the page's own build would make it.
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(path.join(folder, "peers.mjs"));
/** Its source wants modules of Node; this is its own build for browsers. */
export const opossum = () => require.resolve("opossum/dist/opossum.min.js");

/**
 * Bundles and minifies the text of a module, in which names are found as from benches/.
 *
 * @param {string} code
 * @returns {Promise<string>}
 */
export async function bundle(code) {
  const result = await build({
    stdin: { contents: code, resolveDir: folder, loader: "js" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    charset: "utf8", // else it writes the bytes of our WebAssembly as escapes
    define: { "process.env.NODE_ENV": '"production"' },
    alias: { opossum: opossum() },
    absWorkingDir: folder,
    logLevel: "error",
  });
  return result.outputFiles[0].text;
}
