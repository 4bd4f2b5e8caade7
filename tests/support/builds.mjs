// Small pages that Vite builds against the package as it is installed: each a folder with a `main`, which finds
// `<div id="app">`.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { blank } from "./packed.mjs";

const target = fileURLToPath(new URL("../../target", import.meta.url));

/** Whether this was built a moment ago, for another engine: then it is used again. */
export const built = Boolean(process.env.STEADFETCH_BUILT);

/**
 * Builds each, and gives what serves them at `/<name>/`, as `files` of startServer().
 *
 * @param {string} as  the folder under `target` that they are built to
 * @param {{ name: string, source: string, main: string, config?: () => object }[]} pages
 */
export async function buildPages(as, pages) {
  for (const { name, source, main, config } of built ? [] : pages) {
    await build({
      root: source,
      configFile: false,
      logLevel: "warn",
      ...(await config?.()),
      build: {
        outDir: path.join(target, as, name),
        emptyOutDir: true,
        rollupOptions: { input: path.join(source, main), output: { entryFileNames: "main.js" } },
      },
    });
  }
  return ({ url }, response) => {
    const [, name, file] = url.split("?")[0].split("/");
    if (!pages.some((page) => page.name === name)) return false;
    const script = file === "main.js";
    response
      .writeHead(200, { "Content-Type": script ? "text/javascript" : "text/html", Connection: "close" })
      .end(
        script
          ? readFileSync(path.join(target, as, name, "main.js"))
          : blank('<div id="app"></div><script type="module" src="main.js"></script>'),
      );
    return true;
  };
}
