import path from "node:path";

// Where the dependencies really lie is outside of the copy that is built.
const root = path.resolve("../../..");
export default { turbopack: { root }, outputFileTracingRoot: root };
