// How much one page of a list carries: with large payloads it ends early.

/** Of the payloads in a page; the one that passes it is the last. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** As SQL: the bytes of the payloads above this one in the page. A payload need not be read for its size to be known. */
export function bytesBefore(row: string): string {
  return `coalesce(sum(octet_length(${row}.payload::text)) over (
    order by ${row}.run_id desc rows between unbounded preceding and 1 preceding), 0)`;
}
