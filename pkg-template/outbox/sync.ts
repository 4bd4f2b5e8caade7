/** What a page and its service worker call the work that is left. */
export const syncTag = (name: string): string => `steadfetch-outbox ${name}`;
