// What becomes of responses that a call does not simply hand on.

/** Gives up a body that nobody will read. Whether it can be is nobody's concern. */
export function giveUp(response: Response | undefined): void {
  try {
    response?.body?.cancel()?.catch(() => {});
  } catch {
    // Locked, or no real response.
  }
}

/** What a call goes by; no status where that is no response. */
export function looked(response: Response | undefined): { status?: number; type?: string } {
  try {
    const { status, type } = response as Response;
    if (Number.isInteger(status) && status >= 0 && status < 1_000) return { status, type };
  } catch {
    // Whatever it is.
  }
  return {};
}

/** The same response over the bytes of its body, which are here. */
export async function complete(response: Response): Promise<Response> {
  const { status, statusText, headers, url, type, redirected } = response;
  // Where there is no body nothing is read; an opaque answer shows none, and cannot be made.
  if (!response.body || !status || [101, 103, 204, 205, 304].includes(status)) return response;
  const bytes = await response.arrayBuffer();
  const shown = { url, type, redirected };
  const like = (equal: Response): Response => {
    for (const [name, value] of Object.entries(shown)) Object.defineProperty(equal, name, { value });
    const clone = (): Response => like(Response.prototype.clone.call(equal));
    return Object.defineProperty(equal, "clone", { value: clone });
  };
  return like(new Response(bytes, { status, statusText, headers }));
}
