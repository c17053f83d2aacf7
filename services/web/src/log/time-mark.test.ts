import { expect, test } from 'vitest';
import { timeMark } from './time-mark.ts';

const AT = new Date(2026, 0, 2, 3, 4, 5, 67).getTime();

test('each way to show a time', () => {
  expect(timeMark('clock', AT, 0, 0)).toBe('03:04:05.067');
  expect(timeMark('since the start', AT, AT - 1_500, 0)).toBe('1.500');
  expect(timeMark('since the start', AT, AT - 125_250, 0)).toBe('2:05.250');
  expect(timeMark('since the line before', AT, 0, AT - 20)).toBe('+0.020');
  expect(timeMark('since the line before', AT, 0, AT + 20)).toBe('+0.000');
});
