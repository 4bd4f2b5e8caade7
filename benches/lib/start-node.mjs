// The start in Node; run by `inNode()` with the name of a subject. Here reading and compiling the files is within.
import { times } from "./start-clock.mjs";
import { SUBJECTS } from "./start-subjects.mjs";
import { call } from "./start-with.mjs";

const { from, make, ready } = SUBJECTS[JSON.parse(process.argv[2])];
times.began = performance.now();
const library = await import(from);
await call(() => make(library), ready);
console.log(JSON.stringify(times));
