// The Link header (RFC 8288) that leads to the next page of a list.

/** The URL that was asked for with these parameters set, as a `rel="next"` link. */
export function nextLink(url: string, parameters: Record<string, string>): string {
  const { pathname, searchParams } = new URL(url);
  for (const [name, value] of Object.entries(parameters)) searchParams.set(name, value);
  return `<${pathname}?${searchParams.toString()}>; rel="next"`;
}
