import { routeScript, script } from "steadfetch/testing";

/** From now on the page is answered by the script. */
export async function breakReport(page) {
  const server = script([503, "drop", { body: "hello" }]);
  await page.route("**/report.json", routeScript(server));
  return server;
}
