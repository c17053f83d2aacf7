import { expect, test } from 'vitest';
import { jitter, retryPause } from './pause.ts';

function longest(failures: number): number {
  return Math.max(...Array.from({ length: 500 }, () => retryPause(failures)));
}

test('jitter spreads and never exceeds its bound', () => {
  const pauses = Array.from({ length: 500 }, () => jitter(1_000));
  expect(Math.max(...pauses)).toBeLessThanOrEqual(1_000);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(750);
  expect(new Set(pauses).size).toBeGreaterThan(1);
});

test('retries start at 0.2 s, double, and stay within 5 s', () => {
  expect(longest(1)).toBeLessThanOrEqual(200);
  expect(longest(2)).toBeGreaterThan(200);
  expect(longest(2)).toBeLessThanOrEqual(400);
  expect(longest(2_000)).toBeLessThanOrEqual(5_000);
});
