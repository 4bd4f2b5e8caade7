// The package as it is packed: what is in it, whether tools find it in order, and whether its types are those of its code.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const pkg = path.join(root, "pkg");
const out = path.join(root, "target", "packed");
const manifest = JSON.parse(readFileSync(path.join(pkg, "package.json"), "utf8"));
const entries = Object.keys(manifest.exports).filter((name) => name !== "./package.json");

let packed;
before(async () => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { stdout } = await run("npm", ["pack", pkg, "--pack-destination", out, "--json"]);
  [packed] = JSON.parse(stdout);
});

describe("the packed package", () => {
  test("has the files of the list and no others", () => {
    const list = readFileSync(path.join(root, "tests", "support", "packed-files.txt"), "utf8")
      .trim()
      .split("\n");
    assert.deepEqual(packed.files.map(({ path }) => path).sort(), list);
  });

  test("has documents whose links lead to its own files", () => {
    const documents = packed.files.map(({ path }) => path).filter((name) => name.endsWith(".md"));
    const links = documents.flatMap((name) => {
      const prose = readFileSync(path.join(pkg, name), "utf8").replace(/^```.*?^```$/gms, "");
      const targets = [...prose.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, target]) => target);
      return targets.map((target) => path.posix.join(path.posix.dirname(name), target));
    });
    assert.ok(links.includes("guide/outbox.md") && links.includes("README.md"));
    const files = new Set(packed.files.map(({ path }) => path));
    assert.deepEqual(
      links.filter((target) => !files.has(target)),
      [],
    );
  });

  test("runs nothing when it is installed, and depends on nothing", () => {
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.dependencies, undefined);
    for (const name of Object.keys(manifest.peerDependencies)) {
      assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true }, name);
    }
  });

  test("publint finds nothing", async () => {
    const { messages } = await publint({ pkgDir: pkg, strict: true });
    assert.deepEqual(messages, []);
  });

  test("the types resolve for every tool, be it one that does not know exports", async () => {
    const tarball = new Uint8Array(readFileSync(path.join(out, packed.filename)));
    const { types, problems } = await checkPackage(createPackageFromTarballData(tarball));
    assert.ok(types);
    // There is no CommonJS to be had: Node can require() an ES module, and so say its own types.
    assert.deepEqual(
      problems.filter(({ kind }) => kind !== "CJSResolvesToESM"),
      [],
    );
  });
});

describe("the types", () => {
  const source = `${entries
    .map((name, i) => `import * as entry${i} from "${path.posix.join("steadfetch", name)}";`)
    .join("\n")}
const client = entry0.createFetch();
const state: entry0.CallState = client.start("/x").state;
if (state.status === "waiting") console.log(state.remaining, state.cause.kind);
// @ts-expect-error: there is none in the other states
console.log(state.remaining);
console.log(${entries.map((_, i) => `entry${i}`).join(", ")});
`;
  // Angular's own types want newer libraries than ES2020.
  const without = source.replace(/^import .*angular";$/m, "const entry6 = 0;");

  for (const [resolution, module] of [
    ["node16", "node16"],
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ]) {
    test(`are in order with ${resolution}, for ES2020, libraries checked`, { timeout: 60_000 }, async () => {
      const folder = path.join(root, "target", `types-${resolution}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
      writeFileSync(path.join(folder, "main.ts"), without);
      const compilerOptions = {
        ...{ noEmit: true, strict: true, skipLibCheck: false, types: [] },
        ...{ target: "es2020", lib: ["es2020", "dom", "dom.iterable"], module, moduleResolution: resolution },
      };
      writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
      const args = [path.join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "."];
      await run(process.execPath, args, { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
    });
  }

  for (const name of entries) {
    test(`of ${name} are those of what it exports`, async () => {
      const { types, default: code } = manifest.exports[name];
      const declared = names(readFileSync(path.join(pkg, types), "utf8"));
      const text = readFileSync(path.join(pkg, code), "utf8");
      // Those with a core need no framework, and its bytes follow what they export.
      const exported = [".", "./outbox"].includes(name)
        ? Object.keys(await import(pathToFileURL(path.join(pkg, code))))
        : exports(text);
      assert.deepEqual(exported.sort(), declared.sort());
    });
  }
});

/** The values that a file of types declares, with those of the file it hands on. */
function names(types) {
  const own = [...types.matchAll(/^export (?:declare )?(?:abstract )?(?:function|const|class) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const others = [...types.matchAll(/^export \* from "\.\/(.+)\.js";$/gm)].flatMap(([, file]) =>
    names(readFileSync(path.join(pkg, "dist", `${file}.d.ts`), "utf8")),
  );
  return [...new Set([...own, ...others])];
}

/** What a module exports that cannot be loaded here, for want of its framework. */
function exports(code) {
  const [, list] = code.match(/export\{([^}]*)\};?\s*(?:\/\/.*)?\s*$/) ?? [];
  return list.split(",").map((item) => item.split(" as ").at(-1).trim());
}
