import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Busy, createPace, type Pace } from './pace.ts';

let told: Busy[];
let pace: Pace;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  told = [];
  pace = createPace((busy) => told.push(busy));
});

afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTime(ms);

/** Claims that find something, so many a second. */
function claims(count: number, rate: number): number {
  let restMs = 0;
  for (let n = 0; n < count; n++) {
    pass(1_000 / rate);
    restMs = pace.claimed(true, false);
  }
  return restMs;
}

test('with little to do it sleeps until it is woken, and tells nothing', () => {
  expect(claims(100, 8)).toBe(Number.POSITIVE_INFINITY);
  expect(pace.claimed(false, false)).toBe(Number.POSITIVE_INFINITY);
  expect(pace.unasked()).toBe('poll');
  expect(told).toEqual([]);
});

test('with much to do it looks by itself, for as long as anyone may believe it does', () => {
  expect(claims(10, 20)).toBe(20);
  expect(told).toEqual([{ hot: true, full: false }]);
  expect(pace.unasked()).toBe('hot');
  pass(3_400);
  expect(pace.claimed(false, false)).toBe(20);
  pass(200);
  expect(pace.claimed(false, false)).toBe(Number.POSITIVE_INFINITY);
  expect(told).toHaveLength(1);
});

test('it says so about once a second', () => {
  claims(200, 50);
  expect(told.length).toBeGreaterThanOrEqual(3);
  expect(told.length).toBeLessThanOrEqual(4);
});

test('that it is full it tells when it has been for a second, and that it is not any more at once', () => {
  expect(pace.claimed(true, true)).toBe(1_000);
  pass(600);
  // A place became free, and was filled again.
  expect(pace.claimed(true, true)).toBe(400);
  pass(400);
  expect(pace.full()).toBe(Number.POSITIVE_INFINITY);
  pass(5_000);
  expect(pace.claimed(true, true)).toBe(Number.POSITIVE_INFINITY);
  expect(told).toEqual([{ hot: false, full: true }]);
  expect(pace.claimed(false, false)).toBe(Number.POSITIVE_INFINITY);
  expect(told).toEqual([
    { hot: false, full: true },
    { hot: false, full: false },
  ]);
});

test('what is full only for a moment is not told', () => {
  for (let n = 0; n < 5; n++) {
    pace.claimed(true, true);
    pass(900);
    pace.claimed(false, false);
    pass(900);
  }
  expect(told).toEqual([]);
});
