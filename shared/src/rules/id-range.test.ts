import { expect, test } from 'vitest';
import { idAt, idsBeginning, inBoth } from './id-range.ts';

test.each([
  ['0198c5a4-', '0198c5a4-0000-0000-0000-000000000000', '0198c5a5-0000-0000-0000-000000000000'],
  ['0198C5A4-7b1', '0198c5a4-7b10-0000-0000-000000000000', '0198c5a4-7b20-0000-0000-000000000000'],
  [
    '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e7f',
    '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e7f',
    '0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e80',
  ],
  ['ffffffff-', 'ffffffff-0000-0000-0000-000000000000', undefined],
])('%s is the beginning of ids', (text, from, behind) => {
  expect(idsBeginning(text)).toEqual({ from, behind });
});

test.each([
  '',
  'deadbeef',
  '0198c5a47',
  '0198c5a4-7b1e7',
  '0198c5a4-x',
  `0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e700`,
])('%j is not', (text) => {
  expect(idsBeginning(text)).toBeNull();
});

test('an id is at its time', () => {
  expect(idAt(new Date(0x0198c5a47b1e))).toBe('0198c5a4-7b1e-0000-0000-000000000000');
});

test('what is in both has the later beginning and the earlier end', () => {
  expect(inBoth({ from: 'a', behind: 'd' }, { from: 'b' })).toEqual({ from: 'b', behind: 'd' });
  expect(inBoth({ behind: 'd' }, { behind: 'c' })).toEqual({ from: undefined, behind: 'c' });
});
