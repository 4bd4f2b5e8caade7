// How much travels over the wire.
import { brotliCompressSync, gzipSync } from "node:zlib";

/** `{ name: bytes }` to `{ name: { raw, gzip, brotli } }`, each at its strongest setting. */
export function measure(parts) {
  return Object.fromEntries(
    Object.entries(parts).map(([name, bytes]) => [
      name,
      {
        raw: bytes.length,
        gzip: gzipSync(bytes, { level: 9 }).length,
        brotli: brotliCompressSync(bytes).length,
      },
    ]),
  );
}

export function table(sizes) {
  const row = (name, cells) => name.padEnd(24) + cells.map((cell) => `${cell}`.padStart(9)).join("");
  const rows = Object.entries(sizes).map(([name, size]) => row(name, Object.values(size)));
  return [row("bytes", ["raw", "gzip", "brotli"]), ...rows].join("\n");
}
