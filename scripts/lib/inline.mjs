// A byte string as a JavaScript string literal, one character (U+0000 to U+00FF) for each byte. Each byte is turned
// by MASK first, which moves the frequent zeros and small numbers away from characters that need an escape: 3 % less
// after brotli. Base64 would be a third more than the bytes alone. inlined.ts turns them back by the same mask, and knows by
// their sum whether they came through unaltered.

export const MASK = 63;

const NAMES = { "\\": "\\\\", "\r": "\\r", "\n": "\\n" };

/** The literal with its quotes, for a UTF-8 file. */
export function encode(bytes) {
  const text = Buffer.from(bytes.map((byte) => byte ^ MASK)).toString("latin1");
  const count = (quote) => text.split(quote).length;
  const quote = count("'") < count('"') ? "'" : '"';
  const body = text.replace(/[\\\r\n"']|\0(?=([0-9])?)/g, (char, digit) => {
    if (char === "\0") return digit ? "\\x00" : "\\0"; // "\07" would be an octal escape
    if (char === '"' || char === "'") return char === quote ? `\\${char}` : char;
    return NAMES[char];
  });
  return quote + body + quote;
}

/** What a JavaScript engine makes of such a literal. */
export async function decode(literal) {
  const module = Buffer.from(`export default ${literal}`).toString("base64");
  const text = (await import(`data:text/javascript;base64,${module}`)).default;
  return Buffer.from(text, "latin1").map((byte) => byte ^ MASK);
}

export function checksum(bytes) {
  return bytes.reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0);
}
