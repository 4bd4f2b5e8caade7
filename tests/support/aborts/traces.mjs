// Prints what calls are told, by seeds and at the ends of all numbers:  node tests/support/aborts/traces.mjs 1 100
import * as steadfetch from "../../../pkg/dist/index.js";
import { traceExtremes, traceSeeds } from "./explore.mjs";

const [first, count] = process.argv.slice(2).map(Number);
console.log(`WebAssembly is ${typeof WebAssembly}`);
for (const line of await traceSeeds(steadfetch, first, count)) console.log(line);
for (const line of await traceExtremes(steadfetch)) console.log(line);
