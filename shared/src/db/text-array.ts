// An array of texts as a parameter of a statement, in the binary format: as text each would be escaped here and parsed there,
// which for a megabyte of output takes longer than all else.

/** PostgreSQL's number of the type text. */
const TEXT_OID = 25;
const INT_BYTES = 4;
const HEAD_INTS = 5;

/** For a parameter of the type text[]. */
export function textArray(texts: readonly string[]): Buffer {
  const bytes = texts.map((text) => Buffer.byteLength(text));
  const array = Buffer.allocUnsafe(
    bytes.reduce((sum, size) => sum + INT_BYTES + size, HEAD_INTS * INT_BYTES),
  );
  // Dimensions, whether there are nulls, the type, how many, and the index of the first.
  const head = texts.length === 0 ? [0, 0, TEXT_OID] : [1, 0, TEXT_OID, texts.length, 1];
  let at = 0;
  for (const int of head) at = array.writeInt32BE(int, at);
  for (const [index, text] of texts.entries()) {
    at = array.writeInt32BE(bytes[index] ?? 0, at);
    at += array.write(text, at);
  }
  return array.subarray(0, at);
}
