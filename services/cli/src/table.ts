// A table for people: columns as wide as they must be, cut where the terminal ends.
import { stripVTControlCharacters, styleText } from 'node:util';
import { terminalLine } from './terminal-safe.ts';
import { cutToWidth, padToWidth, widthOf } from './text-width.ts';
import type { Tint } from './tint.ts';

export interface Column<T> {
  title: string;
  /** May hold anything: what others wrote is made safe here. Empty: shown as `-`. */
  text: (row: T) => string;
  tint?: (row: T) => Tint | undefined;
  /** It gives way when the terminal is too narrow. */
  shrinks?: true;
}

export interface Paper {
  /** Whether there are colours. */
  isTerminal: boolean;
  /** Columns of the terminal; Infinity in a pipe, where nothing is cut. */
  width: number;
}

const GAP = 2;
/** A column that gives way keeps this much. */
const LEAST = 8;

/** Lines with their ends; the first has the titles. */
export function tableText<T>(columns: readonly Column<T>[], rows: readonly T[], paper: Paper): string {
  const cells = rows.map((row) => columns.map(({ text }) => cellText(text(row))));
  const widths = columns.map(({ title }, at) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), title.length),
  );
  const fitted = fit(columns, widths, paper.width);
  const styled = (tint: Tint | undefined, text: string) =>
    tint === undefined || !paper.isTerminal ? text : styleText(tint, text);

  function line(texts: readonly string[], tintOf: (at: number) => Tint | undefined): string {
    const parts = texts.map((text, at) => {
      const width = fitted[at] ?? 0;
      const shown = cutToWidth(text, width);
      const isLast = at === texts.length - 1;
      return styled(tintOf(at), shown) + (isLast ? '' : padToWidth(shown, width).slice(shown.length));
    });
    return `${parts.join(' '.repeat(GAP))}\n`;
  }

  const head = line(
    columns.map(({ title }) => title),
    () => 'dim',
  );
  const body = rows.map((row, at) => line(cells[at] ?? [], (column) => columns[column]?.tint?.(row)));
  return head + body.join('');
}

/** Colours of others would run on past a cut, so there are none in a table. */
function cellText(text: string): string {
  return terminalLine(stripVTControlCharacters(text)) || '-';
}

function fit<T>(columns: readonly Column<T>[], widths: readonly number[], width: number): number[] {
  let excess = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width;
  // The last ones first: what tells rows apart stands in front.
  return widths
    .toReversed()
    .map((one, fromEnd) => {
      const mayShrink = columns[columns.length - 1 - fromEnd]?.shrinks === true;
      const cut = mayShrink ? Math.max(0, Math.min(excess, one - LEAST)) : 0;
      excess -= cut;
      return one - cut;
    })
    .toReversed();
}
