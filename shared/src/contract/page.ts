// A page of a list, with an opaque cursor to the next one.
import { z } from 'zod';

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** Encodes a keyset position, of ASCII, as a cursor that clients pass back untouched. */
export function encodeCursor(position: readonly string[]): string {
  return btoa(JSON.stringify(position)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const Position = z.array(z.string());

/** The position in a cursor, or null when it is not one of ours with `length` parts. */
export function decodeCursor(cursor: string, length: number): string[] | null {
  try {
    const position = Position.parse(JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))));
    return position.length === length ? position : null;
  } catch {
    return null;
  }
}

/** The cursor in a Link header that leads to the next page; null on the last one. */
export function nextCursor(link: string | null): string | null {
  const path = /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1];
  return path === undefined ? null : new URLSearchParams(path.split('?')[1]).get('cursor');
}
