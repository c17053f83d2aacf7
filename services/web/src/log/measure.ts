// How tall lines are, in rows of the screen: one each, or as many as they take when they are wrapped. Pure.
import { plainText } from './ansi.ts';
import type { Line } from './store.ts';

export interface Heights {
  /** Rows of all lines. */
  total: number;
  /** Rows above a line. */
  above: (index: number) => number;
  /** The line in a row. */
  at: (row: number) => number;
}

export function evenHeights(count: number): Heights {
  return { total: count, above: (index) => index, at: (row) => Math.floor(row) };
}

/** Of `count` lines, of which `rowsOf` says how many rows each takes. */
export function wrappedHeights(count: number, rowsOf: (index: number) => number): Heights {
  const tops = new Float64Array(count + 1);
  for (let index = 0; index < count; index++) tops[index + 1] = (tops[index] ?? 0) + rowsOf(index);
  return {
    total: tops[count] ?? 0,
    above: (index) => tops[Math.min(index, count)] ?? 0,
    at(row) {
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((tops[middle + 1] ?? 0) <= row) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

const TAB = 8;
/** From here on characters of East Asia and pictures are as wide as two. */
const WIDE_FROM = 0x1100;

/** Rows of a line that is wrapped after so many characters of a monospaced font; at least one. */
export function rowsOf({ text, stream }: Line, columns: number, most: number): number {
  if (stream === null || (text.length <= columns && !/[\t\u1100-\uffff]/.test(text))) return 1;
  let width = 0;
  for (const char of plainText(text.slice(0, most))) {
    if (char === '\t') width += TAB - (width % TAB);
    else width += (char.codePointAt(0) ?? 0) >= WIDE_FROM ? 2 : 1;
  }
  return Math.max(1, Math.ceil(width / columns));
}
