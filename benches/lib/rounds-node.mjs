// The same in Node, by itself.
import { overServer, overStub } from "./rounds.mjs";

const ways = { overServer, overStub };
const [way, how] = JSON.parse(process.argv.at(-1));
console.log(JSON.stringify(await ways[way](how)));
// opossum's clock would keep it.
process.exit();
