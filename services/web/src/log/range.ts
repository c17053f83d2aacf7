// The lines that an address points at: `#L10` or `#L10-L20`. Pure.
export interface Range {
  /** Line numbers, from 1; `first` is not behind `last`. */
  first: number;
  last: number;
}

/** Of what stands behind the `#`; null where that names no lines. */
export function rangeOf(hash: string): Range | null {
  const [, from, to] = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? [];
  if (from === undefined) return null;
  const ends = [Number(from), Number(to ?? from)];
  return { first: Math.max(1, Math.min(...ends)), last: Math.max(1, ...ends) };
}

export function hashOf({ first, last }: Range): string {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** Drawn on to another line, from where it begins. */
export function extended(range: Range | null, to: number): Range {
  if (range === null) return { first: to, last: to };
  return to < range.first ? { first: to, last: range.last } : { first: range.first, last: to };
}
