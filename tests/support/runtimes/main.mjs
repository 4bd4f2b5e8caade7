// What a runtime without a page makes of the package: printed as JSON, the same in each.
import { createFetch, isCircuitOpenError } from "steadfetch";

const url = process.argv.at(-1);
const retry = { delay: 20, jitter: "none" };
const told = [];

const call = createFetch({ retry }).start(`${url}/flaky`, {
  onState: ({ status, attempt }) => told.push(`${status} ${attempt}`),
});
const text = await (await call).text();

const controller = new AbortController();
const waiting = createFetch({ retry: { delay: 60_000, backoffLimit: 60_000 } }).start(`${url}/down`, {
  signal: controller.signal,
});
waiting.subscribe(({ status }) => status === "waiting" && controller.abort(new Error("enough")));
const aborted = await waiting.response.catch(({ message }) => message);

const client = createFetch({ retry: false, breaker: { consecutiveFailures: 2 } });
for (let i = 0; i < 2; i++) await client(`${url}/down`);
const refused = await client(`${url}/down`).catch(isCircuitOpenError);
const restored = createFetch({}, { restore: client.snapshot() });
const [{ status }] = restored.circuits;
client.dispose();
const disposed = await client(`${url}/down`).catch(({ name }) => name);

console.log(JSON.stringify({ told, text, aborted, state: waiting.state.status, refused, status, disposed }));
