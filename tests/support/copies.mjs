// Copies of the installed package under addresses of their own, as a page has them whose parts were built apart.
import { readFileSync } from "node:fs";
import path from "node:path";
import { install } from "./packed.mjs";

/** Where the second copy and the one of a later version lie; `FIRST` is where packageFiles() has the package. */
export const FIRST = "/steadfetch/";
export const SECOND = "/vendor/steadfetch/";
export const LATER = "/steadfetch@9.9.9/";

/** What `files` serves, and the copies. The later one speaks another language on the channel of shared tabs. */
export async function withCopies(files) {
  const code = path.join(await install(), "node_modules", "steadfetch", "dist", "index.js");
  const later = speaking(7, readFileSync(code, "utf8"));
  return (request, response) => {
    if (request.url === `${LATER}dist/index.js`) {
      response.writeHead(200, { "Content-Type": "text/javascript", Connection: "close" }).end(later);
      return true;
    }
    for (const copy of [SECOND, LATER]) {
      if (request.url.startsWith(copy)) request.url = request.url.replace(copy, FIRST);
    }
    return files(request, response);
  };
}

/** The package with another number in front of what it says to other tabs. */
function speaking(version, code) {
  const said = code.replace(".postMessage([1,...", `.postMessage([${version},...`);
  const heard = said.replace(/(return \w+===)1(&&\w+\(\w+,5\))/, `$1${version}$2`);
  if (said === code || heard === said) throw new Error("the version of the channel is not where it was");
  return heard;
}
