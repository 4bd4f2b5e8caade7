/** Random bits, in words of 32. */
export function bits(count: number): Uint32Array {
  const words = new Uint32Array(count);
  // No entropy at all is still a number that others hardly have.
  return globalThis.crypto?.getRandomValues(words) ?? words.map(() => Math.random() * 2 ** 32);
}

/** A random UUID (RFC 9562 5.4), which works outside secure contexts too. */
export function uuid(): string {
  const digits = [...bits(4)].map((word) => word.toString(16).padStart(8, "0")).join("");
  const variant = "89ab"[Number.parseInt(digits[16] as string, 16) & 3];
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, `$1-$2-4$3-${variant}$4-$5`);
}
