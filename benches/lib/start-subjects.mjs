/** What starts: from where it is imported, and how a client is made of it, which calls the page's fetch. */
export const SUBJECTS = {
  steadfetch: { from: "steadfetch", make: ({ createFetch }) => createFetch() },
  "steadfetch, after ready()": { from: "steadfetch", make: ({ createFetch }) => createFetch(), ready: true },
  ky: { from: "ky", make: ({ default: ky }) => ky },
};
