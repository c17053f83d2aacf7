import { expect, test } from 'vitest';
import { scrollTopOf, TALLEST, windowAt } from './window.ts';

const ROW = 20;
const VIEWPORT = 400;
const inView = VIEWPORT / ROW;

test('only rows near the view are drawn, however many there are', () => {
  for (const rows of [0, 1, 100, 100_000, 50_000_000]) {
    for (const top of [0, 7, 1_000_000, Infinity]) {
      const { first, end } = windowAt(rows, ROW, VIEWPORT, top);
      expect(end - first).toBeLessThanOrEqual(inView + 32);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(rows);
    }
  }
});

test('a row stands where its number says while the list is not scaled', () => {
  const { first, offset, height } = windowAt(1000, ROW, VIEWPORT, 5000);
  expect(offset).toBe(first * ROW);
  expect(height).toBe(1000 * ROW);
});

test('the end of a list is reached, scaled or not', () => {
  for (const rows of [10, 1000, 5_000_000]) {
    const { first, end, offset, height } = windowAt(rows, ROW, VIEWPORT, Infinity);
    expect(end).toBe(rows);
    expect(offset + (end - first) * ROW).toBe(height);
  }
});

test('the list never grows taller than browsers can bear', () => {
  expect(windowAt(5_000_000, ROW, VIEWPORT, 0)).toMatchObject({ first: 0, offset: 0, height: TALLEST });
});

test('the row that is scrolled to is in the middle', () => {
  for (const rows of [1_000, 5_000_000]) {
    const index = Math.floor(rows / 3);
    const { first, end } = windowAt(rows, ROW, VIEWPORT, scrollTopOf(rows, ROW, VIEWPORT, index));
    expect(Math.abs((first + end) / 2 - index)).toBeLessThan(3);
  }
  expect(scrollTopOf(1_000, ROW, VIEWPORT, 0)).toBe(0);
  expect(scrollTopOf(1_000, ROW, VIEWPORT, 999)).toBe(1_000 * ROW - VIEWPORT);
  expect(scrollTopOf(3, ROW, VIEWPORT, 2)).toBe(0);
});
