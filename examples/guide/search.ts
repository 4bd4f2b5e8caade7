import { fetch } from "./client.js";

let last: AbortController | undefined;

/** What was found for the text that was typed last; the search before it ends with an AbortError. */
export async function search(text: string): Promise<string[]> {
  last?.abort();
  last = new AbortController();
  const response = await fetch(`/search?q=${encodeURIComponent(text)}`, { signal: last.signal });
  return response.json();
}
