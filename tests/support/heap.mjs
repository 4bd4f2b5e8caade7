// What is alive in a page of Chromium once all that can go has gone.

/** Some objects go only with the next collection, and what is called for them comes in turns of their own. */
const COLLECTIONS = 4;
const TURN = 20;
/** Of which a call makes some for itself. */
const KINDS = ["AbortController", "AbortSignal", "Request", "Response"];

/**
 * Looks at a page: how many bytes its objects have and those behind them, such as the insides of a Request, and how many
 * objects of some kinds there are.
 *
 * @returns {Promise<() => Promise<{ script: number, behind: number, objects: Record<string, number> }>>}
 */
export async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");

  async function count(kind) {
    const { result } = await session.send("Runtime.evaluate", { expression: `${kind}.prototype` });
    const { objects } = await session.send("Runtime.queryObjects", { prototypeObjectId: result.objectId });
    const { result: length } = await session.send("Runtime.callFunctionOn", {
      objectId: objects.objectId,
      functionDeclaration: "function () { return this.length; }",
    });
    for (const { objectId } of [result, objects]) await session.send("Runtime.releaseObject", { objectId });
    return length.value;
  }

  return async () => {
    for (let i = 0; i < COLLECTIONS; i++) {
      await session.send("HeapProfiler.collectGarbage");
      await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), TURN);
    }
    const usage = await session.send("Runtime.getHeapUsage");
    const objects = {};
    for (const kind of KINDS) objects[kind] = await count(kind);
    return { script: usage.usedSize, behind: usage.embedderHeapUsedSize + usage.backingStorageSize, objects };
  };
}
