// How much of a text fits into a number of bytes.

const encoder = new TextEncoder();
const scratch = new Uint8Array(65_536);

/** The number of UTF-16 units from the start that fit into `maxBytes` (to 65,536) of UTF-8; never half a character. */
export function fit(text: string, maxBytes: number): number {
  if (text.length * 3 <= maxBytes) return text.length;
  return encoder.encodeInto(text, scratch.subarray(0, Math.max(0, maxBytes))).read;
}
