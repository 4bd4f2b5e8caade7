// A static server on the loopback address: www/ at the root, the built package at /steadfetch/, the small apps
// as they were built at /apps/.
import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { root } from "./lib/run.mjs";

const MOUNTS = [
  ["/apps/", path.join(root, "target", "apps")],
  ["/steadfetch/", path.join(root, "pkg", "dist")],
  ["/", path.join(root, "www")],
];

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".ts": "text/plain; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Starts it; port 0 is any free one. Rejects when the port is taken. */
export async function serve({ port = 0 } = {}) {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end());
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

async function answer(request, response) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { Allow: "GET, HEAD" }).end();
    return;
  }
  const file = await find(request.url);
  if (!file) {
    response.writeHead(404, { "Content-Type": TYPES[".txt"], "Cache-Control": "no-store" }).end("Not found\n");
    return;
  }
  response.writeHead(200, {
    "Content-Type": TYPES[path.extname(file.name)] ?? "application/octet-stream",
    "Content-Length": file.size,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  if (request.method === "HEAD") response.end();
  else
    createReadStream(file.name)
      .on("error", () => response.destroy())
      .pipe(response);
}

/** The file a request asks for, or null; links and `..` do not lead out of a mounted folder. */
async function find(target) {
  const pathname = decode(target.replace(/[?#].*$/s, ""));
  const mount = MOUNTS.find(([prefix]) => pathname?.startsWith(prefix));
  if (!mount || pathname.includes("\0")) return null;
  const [prefix, folder] = mount;
  const asked = path.join(folder, pathname.slice(prefix.length), pathname.endsWith("/") ? "index.html" : "");
  try {
    const name = await realpath(asked);
    if (!name.startsWith((await realpath(folder)) + path.sep)) return null;
    const info = await stat(name);
    return info.isFile() ? { name, size: info.size } : null;
  } catch {
    return null;
  }
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
