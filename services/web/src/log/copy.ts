// The text of lines, as it is copied: what was printed, without colours, numbers and marks. Pure.
import { plainText } from './ansi.ts';
import type { Range } from './range.ts';
import type { Line } from './store.ts';

/** Of the lines that the range names, of one attempt; of all where there is none. */
export function textOf(lines: readonly Line[], range: Range | null, attempt: number | null): string {
  const isMeant = ({ number, attempt: own }: Line) =>
    range === null ||
    (number >= range.first && number <= range.last && (attempt === null || own === attempt));
  return lines
    .filter((line) => line.stream !== null && isMeant(line))
    .map(({ text }) => `${plainText(text).replace(/\r$/, '')}\n`)
    .join('');
}
