import { createFetch } from "steadfetch";

const call = createFetch().start("/report.json");
for await (const state of call) console.log(state.status);
