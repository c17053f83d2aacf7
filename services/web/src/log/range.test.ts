import { expect, test } from 'vitest';
import { extended, hashOf, rangeOf } from './range.ts';

test.each([
  ['L7', { first: 7, last: 7 }],
  ['L10-L20', { first: 10, last: 20 }],
  ['L20-10', { first: 10, last: 20 }],
  ['L0', { first: 1, last: 1 }],
  ['main', null],
  ['', null],
  ['L99999999999', null],
])('%s', (hash, range) => {
  expect(rangeOf(hash)).toEqual(range);
});

test('written and drawn on', () => {
  expect(hashOf({ first: 3, last: 3 })).toBe('#L3');
  expect(hashOf(extended(rangeOf('L3'), 9))).toBe('#L3-L9');
  expect(hashOf(extended(rangeOf('L3-L9'), 1))).toBe('#L1-L9');
  expect(hashOf(extended(null, 4))).toBe('#L4');
});
