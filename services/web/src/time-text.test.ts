import { expect, test } from 'vitest';
import { ageText, durationText } from './time-text.ts';

test.each([
  [-5_000, '0.0s'],
  [412, '0.4s'],
  [9_990, '10.0s'],
  [12_400, '12s'],
  [59_999, '59s'],
  [60_000, '1m 00s'],
  [184_000, '3m 04s'],
  [3_600_000, '1h 00m'],
  [7_500_000, '2h 05m'],
  [273_600_000, '3d 04h'],
])('%i ms ended is %s', (ms, text) => {
  expect(durationText(ms, false)).toBe(text);
});

test('a running duration moves in whole seconds', () => {
  expect(durationText(3_412, true)).toBe('3s');
});

test.each([
  [-1_000, 'just now'],
  [59_000, 'just now'],
  [60_000, '1 min ago'],
  [3 * 3_600_000, '3 h ago'],
  [49 * 3_600_000, '2 d ago'],
])('%i ms old is %s', (ms, text) => {
  expect(ageText(ms)).toBe(text);
});
