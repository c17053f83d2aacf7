// The index of the walk: every row that is to be covered stands in a test's name, or here with the reason why not.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Rows of the checklist of workflow-graph's features; 85 to 87 are what workers of our own do with what they run. */
const ROWS = [...range(1, 84), ...range(88, 91), ...range(93, 96), 98];

/** Rows without a test, at most five, each with its reason. */
const EXCEPTIONS: Readonly<Record<number, string>> = {};

const folder = new URL('.', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts') && name !== 'rows.test.ts');
const sources = files.map((name) => readFileSync(new URL(name, folder), 'utf8'));

/** The rows with which the names of tests begin: `'26: …'`, `'34, 35, 36: …'`. */
const covered = sources
  .flatMap((source) => [...source.matchAll(/\(\s*['"`](\d+(?:, \d+)*): /g)])
  .flatMap(([, rows = '']) => rows.split(', ').map(Number));

test('each row is covered or excepted', () => {
  const missing = ROWS.filter((row) => !covered.includes(row) && !(row in EXCEPTIONS));
  expect(missing).toEqual([]);
  expect([...new Set(covered)].filter((row) => !ROWS.includes(row))).toEqual([]);
  expect(Object.keys(EXCEPTIONS).filter((row) => covered.includes(Number(row)))).toEqual([]);
  expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(5);
});

test('no test of the walk is left out', () => {
  expect(sources.filter((source) => /\.(skip|only|todo|fails|runIf|skipIf)\b/.test(source))).toEqual([]);
});
