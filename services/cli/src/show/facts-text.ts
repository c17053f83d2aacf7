// Facts of one thing, a name and a text each, in two columns.
import { stripVTControlCharacters, styleText } from 'node:util';
import { terminalLine } from '../terminal-safe.ts';
import type { Paper } from '../table.ts';
import type { Tint } from '../tint.ts';

export interface Fact {
  name: string;
  /** May hold anything, in any number of lines. Empty: the fact is left out. */
  text: string;
  tint?: Tint | undefined;
}

/** Lines with their ends; further lines of a text stand below its first. */
export function factsText(facts: readonly Fact[], { isTerminal }: Pick<Paper, 'isTerminal'>): string {
  const shown = facts.filter(({ text }) => text !== '');
  const width = Math.max(0, ...shown.map(({ name }) => name.length)) + 2;
  return shown.map((fact) => factText(fact, width, isTerminal)).join('');
}

function factText({ name, text, tint }: Fact, width: number, isTerminal: boolean): string {
  const styled = (style: Tint | undefined, line: string) =>
    style === undefined || !isTerminal ? line : styleText(style, line);
  const lines = stripVTControlCharacters(text)
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => styled(tint, terminalLine(line)));
  const head = styled('dim', name) + ' '.repeat(width - name.length);
  return `${head}${lines.join(`\n${' '.repeat(width)}`)}\n`;
}
