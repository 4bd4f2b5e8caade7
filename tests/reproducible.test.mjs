// The package built twice, each time from nothing and in a folder of its own: whoever has the sources can make the bytes
// that are published, and compare.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { root } from "../scripts/lib/run.mjs";

const run = promisify(execFile);
/** What a build reads, besides node_modules. */
const SOURCES = ["Cargo.toml", "Cargo.lock", "src", "pkg-template", "scripts", "package.json"];
const DOCUMENTS = ["docs/guide", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

const base = mkdtempSync(path.join(tmpdir(), "steadfetch-twice-"));
after(() => rmSync(base, { recursive: true, force: true }));

/** The sources in a new folder, which has the installed packages but for our own. */
function checkout(name) {
  const folder = path.join(base, name);
  for (const each of [...SOURCES, ...DOCUMENTS])
    cpSync(path.join(root, each), path.join(folder, each), { recursive: true });
  mkdirSync(path.join(folder, "node_modules"));
  for (const each of readdirSync(path.join(root, "node_modules"))) {
    if (each === "steadfetch") continue;
    symlinkSync(path.join(root, "node_modules", each), path.join(folder, "node_modules", each));
  }
  return folder;
}

async function build(folder) {
  // A compiler's cache, or one target folder for all, would make it one build instead of two.
  const { CARGO_TARGET_DIR, RUSTC_WRAPPER, ...env } = process.env;
  await run(process.execPath, ["scripts/build.mjs"], { cwd: folder, env });
  const pkg = path.join(folder, "pkg");
  const files = readdirSync(pkg, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files
      .map((entry) => path.join(entry.path, entry.name))
      .sort()
      .map((file) => [path.relative(pkg, file), readFileSync(file)]),
  );
}

test("two builds give the same bytes, wherever they are made", { timeout: 1_800_000 }, async () => {
  const one = await build(checkout("one"));
  const other = await build(checkout("another/that is called otherwise"));
  assert.ok(one.size > 40);
  assert.deepEqual([...one.keys()], [...other.keys()]);
  const differ = [...one].filter(([name, bytes]) => !bytes.equals(other.get(name))).map(([name]) => name);
  assert.deepEqual(differ, []);
  for (const [name, bytes] of one) assert.ok(!bytes.includes(base), `${name} names a folder`);
});
