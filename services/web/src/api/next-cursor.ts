// Where the next page of a list begins, by the Link header of this one.

/** The cursor in the link to the next page; null on the last one. */
export function nextCursor(link: string | null): string | null {
  const path = /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1];
  return path === undefined ? null : new URLSearchParams(path.split('?')[1]).get('cursor');
}
