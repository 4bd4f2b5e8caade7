// A reporter for `node --test`: how many tests passed and failed, as JSON, and which were left out with a reason. Only
// what really ran is counted: no suites, no skipped tests, and not the file itself, which Node reports as a passing test
// when it holds none.
export default async function* count(source) {
  const counts = { passed: 0, failed: 0, exceptions: [] };
  for await (const { type, data } of source) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (typeof data.skip === "string") counts.exceptions.push({ name: data.name, reason: data.skip });
    if (data.details?.type === "suite" || data.skip || data.todo) continue;
    if (type === "test:fail") counts.failed += 1;
    else if (data.name !== data.file) counts.passed += 1;
  }
  yield JSON.stringify(counts);
}
