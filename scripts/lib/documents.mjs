// The documents of the package: those of the repository, with links as the package has its files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./run.mjs";

const GUIDE = "docs/guide";
/** In the package, by where they are here. */
const places = () =>
  Object.fromEntries([
    ...["README.md", "with-other-libraries.md", "THIRD-PARTY.md"].map((name) => [`pkg-template/${name}`, name]),
    ...["CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"].map((name) => [name, name]),
    ...readdirSync(path.join(root, GUIDE)).map((name) => [`${GUIDE}/${name}`, `guide/${name}`]),
  ]);

/** @returns {Record<string, Buffer | string>} by their names in the package */
export function documents() {
  const all = places();
  const found = Object.entries(all).filter(([file]) => {
    const there = existsSync(path.join(root, file));
    if (!there) console.warn(`warning: the package goes without ${file}`);
    return there;
  });
  return Object.fromEntries(found.map(([file, name]) => [name, linked(file, name, all)]));
}

/** What a link leads to that the package does not have is only a word there. */
function linked(file, name, all) {
  const bytes = readFileSync(path.join(root, file));
  if (!name.endsWith(".md")) return bytes;
  const parts = String(bytes).split(/(^```.*?^```$)/ms);
  const link = /\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)/g;
  const follow = (_, text, target, anchor = "") => {
    const there = all[path.posix.join(path.posix.dirname(file), target)];
    return there ? `[${text}](${path.posix.relative(path.posix.dirname(name), there)}${anchor})` : text;
  };
  return parts.map((part) => (part.startsWith("```") ? part : part.replace(link, follow))).join("");
}
