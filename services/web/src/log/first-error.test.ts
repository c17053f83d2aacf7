import { expect, test } from 'vitest';
import { firstError } from './first-error.ts';
import type { Line } from './store.ts';

const line = (text: string, more: Partial<Line> = {}): Line => ({
  attempt: 0,
  number: 1,
  stream: 'stdout',
  at: 0,
  text,
  cut: 0,
  ...more,
});

test.each<[string, Line[], number | null]>([
  ['the first that says so', [line('ok'), line('0 errors'), line('AssertionError: x'), line('1 failed')], 2],
  [
    'else the first on stderr',
    [line('ok'), line('hm', { stream: 'stderr' }), line('x', { stream: 'stderr' })],
    1,
  ],
  [
    'of the last attempt',
    [line('error'), line('Attempt 1', { attempt: 1, stream: null }), line('fatal', { attempt: 1 })],
    2,
  ],
  ['none', [line('ok'), line('no failures')], null],
  ['of nothing', [], null],
])('%s', (_, lines, expected) => {
  expect(firstError(lines)).toBe(expected);
});
