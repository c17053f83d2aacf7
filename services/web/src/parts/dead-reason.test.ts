import { expect, test } from 'vitest';
import { reasonOf } from './dead-reason.ts';

test.each([
  ['timeout after 30s', 'timeout after 30s'],
  ['user 42 has no address', 'user # has no address'],
  ['no order "A-17" in 3 shops\nat x.ts:1', 'no order “…” in # shops'],
  ['run 0198c5a4-7b1e-7c3d-9a50-3f2b8d6c1e70 is gone', 'run … is gone'],
  [null, 'no reason is known'],
])('%s', (error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});
