import { expect, test } from 'vitest';
import { ageText, durationText, spanText } from './time-text.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

test('durations and ages', () => {
  expect([-5, 2100, 125 * SECOND, 2 * HOUR + 180 * SECOND].map(durationText)).toEqual([
    '0.0 s',
    '2.1 s',
    '2 min 5 s',
    '2 h 3 min',
  ]);
  expect([-5, 3999, 300 * SECOND, 3 * HOUR, 50 * HOUR].map(ageText)).toEqual([
    '0 s',
    '3 s',
    '5 min',
    '3 h',
    '2 d',
  ]);
});

test('what has not ended is measured until now', () => {
  const from = '2026-11-30T10:00:00.000Z';
  expect(spanText(from, '2026-11-30T10:00:01.000Z', 0)).toBe('1.0 s');
  expect(spanText(from, null, Date.parse(from) + 2 * SECOND)).toBe('2.0 s');
  expect(spanText(null, null, 0)).toBe('');
});
