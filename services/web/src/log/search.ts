// Finds lines: what is searched, and where it stands in a line. Pure.
import { plainText } from './ansi.ts';
import type { Line } from './store.ts';

export interface Wanted {
  text: string;
  isRegex: boolean;
  isCase: boolean;
}

export type Matcher = RegExp;

/** With a place of its own where it goes on, which those who use it set. Null where nothing is searched. @throws SyntaxError for a bad regular expression. */
export function matcherOf({ text, isRegex, isCase }: Wanted): Matcher | null {
  if (text === '') return null;
  const source = isRegex ? text : text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(source, isCase ? 'gu' : 'giu');
}

/** Indexes of lines that match, from `from` on, until `isOver` says so; `next` is where to go on. */
export function findLines(
  lines: readonly Line[],
  matcher: Matcher,
  from: number,
  isOver: () => boolean,
): { found: number[]; next: number } {
  const found: number[] = [];
  let next = from;
  for (; next < lines.length; next++) {
    // The clock costs more than a line.
    if (next > from && (next & 1_023) === 0 && isOver()) break;
    const line = lines[next];
    if (!line || line.stream === null) continue;
    matcher.lastIndex = 0;
    if (matcher.test(plainText(line.text))) found.push(next);
  }
  return { found, next };
}

/** Where in the plain text the matches are; empty ones are none. */
export function rangesOf(text: string, matcher: Matcher): [from: number, to: number][] {
  matcher.lastIndex = 0;
  return [...text.matchAll(matcher)].flatMap((match): [number, number][] =>
    match[0] === '' ? [] : [[match.index, match.index + match[0].length]],
  );
}
