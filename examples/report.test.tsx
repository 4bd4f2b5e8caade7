// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createFetch } from "steadfetch";
import { script, virtualClock } from "steadfetch/testing";
import { afterEach, expect, test } from "vitest";
import { Report } from "./report";

const clock = virtualClock();
afterEach(cleanup);

/** The component before a server that follows the steps, with a client of its own. */
function show(...steps: Parameters<typeof script>[0]) {
  const server = script(steps);
  const client = createFetch({ fetch: server, retry: { delay: 3000, jitter: "none" } });
  // Where `Request` is Node's, as it is here, an address has to be absolute.
  const report = (name: string) => <Report client={client} url={`https://api.example/${name}.json`} />;
  const { rerender } = render(report("first"));
  return { requests: server.requests, another: () => rerender(report("second")) };
}
const passes = (ms: number) => act(() => clock.advance(ms));
const shows = (text: string) => screen.getByText(text, { ignore: "[role=status]" });
const hears = (text: string) => expect(screen.getByRole("status").textContent).toBe(text);

test("counts down, and shows the report", async () => {
  const server = show(503, { body: '{ "title": "Parcels" }' });
  await passes(0);
  shows("Trying again in 3 s");
  await passes(1500);
  shows("Trying again in 2 s");
  hears("Trying again in 3 s");
  await passes(1500);
  shows("Parcels");
  hears("Parcels");
  expect(server.requests).toHaveLength(2);
});

test("sends at once on a click", async () => {
  const server = show(503, { body: '{ "title": "Parcels" }' });
  await passes(0);
  fireEvent.click(screen.getByText("Try now"));
  await passes(0);
  shows("Parcels");
  expect(server.requests).toHaveLength(2);
});

test("shows nothing of the last report under another address", async () => {
  const { another } = show({ body: '{ "title": "Parcels" }' }, { delay: 500, body: '{ "title": "Letters" }' }, "drop");
  await passes(0);
  shows("Parcels");
  another();
  await passes(0);
  shows("Loading, attempt 1 of 5");
  await passes(500);
  shows("Letters");
  hears("Letters");
});

test("says what it cannot read", async () => {
  show({ body: "no JSON" });
  await passes(0);
  shows("The report cannot be read");
  hears("The report cannot be read");
});

test("sends nothing after it is gone", async () => {
  const server = show("drop");
  await passes(0);
  cleanup();
  await passes(60_000);
  expect(server.requests).toHaveLength(1);
});
