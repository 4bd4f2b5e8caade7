// Where what is compiled in and what builds it come from, and under which licences, by the lock files.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { linked, packages } from "../scripts/lib/crates.mjs";
import { isAllowed } from "../scripts/lib/licences.mjs";
import { root } from "../scripts/lib/run.mjs";

const CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index";
/**
 * The npm projects, with those packages that would run a program when they are installed, which `ignore-scripts` of .npmrc
 * keeps them from.
 */
const WITH_INSTALL_SCRIPTS = {
  "": ["@parcel/watcher", "@swc/core", "bun", "deno", "esbuild", "lmdb", "msgpackr-extract"],
  "tests/frameworks": ["esbuild", "workerd"],
  benches: [],
};

const read = (...names) => readFileSync(path.join(root, ...names), "utf8");

/** The packages of a Cargo.lock but for our own. */
const locked = (...names) =>
  read(...names)
    .split("[[package]]")
    .slice(1)
    .map((text) => Object.fromEntries([...text.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, value]) => [name, value])))
    .filter(({ name }) => !name.startsWith("steadfetch"));

describe("the crates", () => {
  for (const folder of ["", "fuzz", "benches/core"]) {
    test(`of ${path.join(folder, "Cargo.lock")} come from crates.io, each with its checksum`, () => {
      const crates = locked(folder, "Cargo.lock");
      assert.ok(crates.length > 3);
      for (const { name, source, checksum } of crates) {
        assert.equal(source, CRATES_IO, name);
        assert.match(checksum ?? "", /^[0-9a-f]{64}$/, name);
      }
    });
  }

  test("are under licences of the list", () => {
    const found = packages();
    assert.ok(found.length > 100);
    for (const { name, license } of found) assert.ok(isAllowed(license), `${name} is under ${license}`);
  });

  test("that are linked into the package are there once each", () => {
    const names = [...linked()].map((crate) => crate.split(" ")[0]);
    assert.ok(names.includes("talc"));
    assert.deepEqual(names, [...new Set(names)]);
  });
});

describe("the list of licences", () => {
  for (const [expression, allowed] of [
    ["MIT", true],
    ["MIT/Apache-2.0", true],
    ["GPL-3.0 OR MIT", true],
    ["(MIT OR Apache-2.0) AND Unicode-3.0", true],
    ["MIT AND GPL-3.0", false],
    ["GPL-3.0 OR (MIT AND MPL-2.0)", false],
    ["Apache-2.0 WITH LLVM-exception", true],
    ["MIT GPL-3.0", false],
    [undefined, false],
  ]) {
    test(`${allowed ? "allows" : "does not allow"} ${expression}`, () => assert.equal(isAllowed(expression), allowed));
  }
});

for (const [folder, scripts] of Object.entries(WITH_INSTALL_SCRIPTS)) {
  describe(`the npm packages of ${path.posix.join(folder, "package-lock.json")}`, () => {
    const found = Object.entries(JSON.parse(read(folder, "package-lock.json")).packages).filter(
      // What lies within another package has no checksum but that one's.
      ([place, { link, inBundle }]) => place.includes("node_modules/") && !link && !inBundle,
    );
    const name = (place) => place.split("node_modules/").at(-1);

    test("each have a checksum", () => {
      assert.ok(found.length > 10);
      for (const [place, { integrity }] of found) assert.match(integrity ?? "", /^sha512-/, place);
    });

    test("are fetched from wherever the registry is, and from no host that the file names", () => {
      const named = found.filter(([, { resolved }]) => resolved !== undefined);
      assert.deepEqual(named, []);
      assert.doesNotMatch(read(folder, "package-lock.json"), /"resolved": "\w+:/);
      assert.match(read(folder, ".npmrc"), /^omit-lockfile-registry-resolved=true$/m);
    });

    test("run nothing when they are installed; those that would are on the list", () => {
      assert.match(read(folder, ".npmrc"), /^ignore-scripts=true$/m);
      const would = found.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => name(place));
      assert.deepEqual([...new Set(would)].sort(), scripts);
    });

    test("are of exact versions where a package.json of ours names them", () => {
      // Of the project itself, and of its workspaces.
      const places = Object.keys(JSON.parse(read(folder, "package-lock.json")).packages);
      const manifests = places.filter((place) => !place.includes("node_modules/"));
      assert.ok(manifests.length > 0);
      for (const file of manifests.map((place) => path.join(folder, place, "package.json"))) {
        const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(file));
        for (const [name, version] of Object.entries({
          ...dependencies,
          ...devDependencies,
          ...optionalDependencies,
        })) {
          assert.match(version, /^(npm:(@[\w-]+\/)?[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/, `${name} in ${file}`);
        }
      }
    });
  });
}

describe("the code of the package", () => {
  test("is made of its own sources, and of the one npm package that the notices name", () => {
    const dist = path.join(root, "pkg", "dist");
    const maps = readdirSync(dist).filter((name) => name.endsWith(".js.map"));
    assert.ok(maps.length >= 12);
    for (const name of maps) {
      const { sources } = JSON.parse(read("pkg", "dist", name));
      const foreign = sources
        .map((source) => path.relative(root, path.join(dist, source)))
        .filter((source) => !source.startsWith("pkg-template/"));
      const packages = new Set(foreign.map((source) => source.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]));
      assert.deepEqual([...packages], name === "outbox.js.map" ? ["idb"] : [], name);
    }
    assert.match(read("pkg-template", "THIRD-PARTY.md"), /^- idb \d/m);
  });
});
