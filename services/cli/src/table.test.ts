import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { type Column, tableText } from './table.ts';
import { cutToWidth, widthOf } from './text-width.ts';

const ESC = String.fromCharCode(27);
const columns: Column<[string, string]>[] = [
  { title: 'STATUS', text: ([status]) => status, tint: () => 'red' },
  { title: 'NAME', text: ([, name]) => name, shrinks: true },
  { title: 'ID', text: () => '1' },
];
const pipe = { isTerminal: false, width: Infinity };

test('columns are aligned, and what is empty is visible', () => {
  const rows: [string, string][] = [
    ['completed', 'a'],
    ['failed', ''],
    ['failed', '漢字 😀'],
  ];
  expect(tableText(columns, rows, pipe)).toBe(
    [
      'STATUS     NAME     ID',
      'completed  a        1',
      'failed     -        1',
      'failed     漢字 😀  1',
      '',
    ].join('\n'),
  );
});

test('what a name holds neither breaks a line nor takes the terminal over', () => {
  const text = tableText(columns, [['failed', `a\nb${ESC}[2J${ESC}[31mred`]], pipe);
  expect(text.split('\n')[1]).toBe('failed  a bred  1');
});

test('a narrow terminal cuts what gives way, and nothing in a pipe is cut', () => {
  const rows: [string, string][] = [['failed', '漢'.repeat(20)]];
  const lines = stripVTControlCharacters(tableText(columns, rows, { isTerminal: true, width: 30 }));
  expect(lines.split('\n')[1]).toBe(`failed  ${'漢'.repeat(6)}…漢漢   1`);
  expect(lines.split('\n').every((line) => widthOf(line) <= 30)).toBe(true);
  expect(tableText(columns, rows, pipe)).toContain('漢'.repeat(20));
});

test('widths', () => {
  expect(['abc', 'é', 'e\u0301', '漢', '😀', '⚠️', '👨‍👩‍👧', '🇩🇪'].map(widthOf)).toEqual([
    3, 1, 1, 2, 2, 2, 2, 2,
  ]);
});

test('a name that is cut keeps its number', () => {
  expect(cutToWidth('nightly-build-of-everything #12', 16)).toBe('nightly-bu…g #12');
  expect(cutToWidth('ci #12', 6)).toBe('ci #12');
});
