// Prints what calls are told, by seeds:  node tests/support/aborts/traces.mjs 1 100
import * as steadfetch from "../../../pkg/dist/index.js";
import { traceSeeds } from "./explore.mjs";

const [first, count] = process.argv.slice(2).map(Number);
console.log(`WebAssembly is ${typeof WebAssembly}`);
for (const line of await traceSeeds(steadfetch, first, count)) console.log(line);
