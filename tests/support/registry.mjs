// A registry on loopback that has one package, the packed one: `npm install steadfetch` is run as its users write it.
//
//   const registry = await startRegistry();
//   await run("npm", ["install", "steadfetch"], { cwd: folder, env: registry.env });
//   await registry.close();

import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { blank, install } from "./packed.mjs";
import { startServer } from "./server.mjs";

export async function startRegistry() {
  const folder = await install();
  const tarball = readFileSync(
    path.join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".tgz")),
    ),
  );
  const manifest = JSON.parse(readFileSync(path.join(folder, "node_modules/steadfetch/package.json"), "utf8"));
  const { name, version } = manifest;
  const server = await startServer({ files });

  function files({ url }, response) {
    const send = (body, type) => response.writeHead(200, { "Content-Type": type, Connection: "close" }).end(body);
    if (url === `/${name}.tgz`) send(tarball, "application/octet-stream");
    else if (url === `/${name}`) send(JSON.stringify(packument()), "application/json");
    else response.writeHead(404, { Connection: "close" }).end(blank());
    return true;
  }

  function packument() {
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `${server.url}/${name}.tgz`, integrity };
    return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
  }

  const cache = mkdtempSync(path.join(tmpdir(), "steadfetch-npm-"));
  const settings = { registry: server.url, cache, audit: "false", fund: "false", update_notifier: "false" };
  return {
    /** For a process whose npm is to ask there and nowhere else. */
    env: {
      ...process.env,
      ...Object.fromEntries(Object.entries(settings).map(([key, value]) => [`npm_config_${key}`, value])),
    },
    async close() {
      await server.close();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}
