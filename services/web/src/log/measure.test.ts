import { expect, test } from 'vitest';
import { evenHeights, rowsOf, wrappedHeights } from './measure.ts';

const line = (text: string) => ({ attempt: 0, number: 1, stream: 'stdout' as const, at: 0, text, cut: 0 });

test('lines of one row each', () => {
  const { total, above, at } = evenHeights(5);
  expect([total, above(3), at(3)]).toEqual([5, 3, 3]);
});

test('lines of several rows', () => {
  const sizes = [1, 3, 1, 2];
  const { total, above, at } = wrappedHeights(sizes.length, (index) => sizes[index] ?? 0);
  expect(total).toBe(7);
  expect([0, 1, 2, 3, 4].map(above)).toEqual([0, 1, 4, 5, 7]);
  expect([0, 1, 2, 3, 4, 5, 6].map(at)).toEqual([0, 1, 1, 1, 2, 3, 3]);
});

test.each([
  ['', 1],
  ['1234567890', 1],
  ['12345678901', 2],
  ['\u001b[31m12345\u001b[0m67890', 1],
  ['\t1', 1],
  ['\t123', 2],
  ['漢字漢字漢字', 2],
])('%j takes %s rows of ten', (text, rows) => {
  expect(rowsOf(line(text), 10, 4_096)).toBe(rows);
});
