// A page of a list, with an opaque cursor to the next one.
import { z } from 'zod';

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable() });

/** Encodes a keyset position as a cursor that clients pass back untouched. */
export function encodeCursor(position: readonly string[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

const Position = z.array(z.string());

/** The position in a cursor, or null when it is not one of ours with `length` parts. */
export function decodeCursor(cursor: string, length: number): string[] | null {
  try {
    const position = Position.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return position.length === length ? position : null;
  } catch {
    return null;
  }
}
