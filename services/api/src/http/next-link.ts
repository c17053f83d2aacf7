// The Link header (RFC 8288) that leads to the next page of a list.

/** The URL that was asked for, from the cursor on instead of where it began, as a `rel="next"` link. */
export function nextLink(url: string, cursor: string, parameter: 'cursor' | 'after' = 'cursor'): string {
  const { pathname, searchParams } = new URL(url);
  searchParams.delete('offset');
  searchParams.set(parameter, cursor);
  return `<${pathname}?${searchParams.toString()}>; rel="next"`;
}
