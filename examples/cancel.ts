import { createFetch } from "steadfetch";

const fetch = createFetch();
const controller = new AbortController();
setTimeout(() => controller.abort("too slow"), 1000);

try {
  const response = await fetch("/report.json", { signal: controller.signal });
  console.log(response.status);
} catch (error) {
  if (!controller.signal.aborted) throw error;
  console.log("cancelled:", error); // the very value given to abort()
}
