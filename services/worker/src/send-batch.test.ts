import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { isPassing } from './send-batch.ts';

function refused(code: string, constraint?: string): DatabaseError {
  return Object.assign(new DatabaseError('refused', 7, 'error'), { code, constraint });
}

test.each([
  ['a broken trigger', refused('P0001')],
  ['no right to write', refused('42501')],
  ['a missing table', refused('42P01')],
  ['a full disk', refused('53100')],
  ['a lock that is not granted', refused('55P03')],
  ['a damaged table', refused('XX000')],
  ['a partition that cannot be made', refused('23514')],
  ['a connection that is gone', new Error('Connection terminated unexpectedly')],
])('%s is not the fault of what was sent', (_, error) => {
  expect(isPassing(error)).toBe(true);
});

test.each([
  ['text that cannot be stored', refused('22021')],
  ['what a constraint forbids', refused('23514', 'no_poison')],
  ['a row that is too large', refused('54000')],
  ['an error of our own', new RangeError('Invalid string length')],
  ['an error of Node', Object.assign(new Error('no'), { code: 'ERR_INVALID_ARG_TYPE' })],
])('%s is', (_, error) => {
  expect(isPassing(error)).toBe(false);
});
