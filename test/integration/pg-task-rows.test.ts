// The index of pg_task's features: every row of the checklist stands in the name of a test.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FIRST = 126;
const LAST = 144;
const FILES = [
  '../e2e/pg-task.test.ts',
  'queries/pg-task.test.ts',
  'queries/sql-bells.test.ts',
  'worker/task-outage.test.ts',
  'worker/tasks.test.ts',
];

/** The rows with which the names of tests begin: `'126: …'`, `'131, 132: …'`. */
const covered = FILES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .flatMap((source) => [...source.matchAll(/(?:\btest|\))\(\s*['"`](\d+(?:, \d+)*): /g)])
  .flatMap(([, rows = '']) => rows.split(', ').map(Number));

test('each row is covered', () => {
  const rows = Array.from({ length: LAST - FIRST + 1 }, (_, n) => FIRST + n);
  expect([...new Set(covered)].sort((a, b) => a - b)).toEqual(rows);
});
