import { expect, test } from 'vitest';
import { Watched } from './watched.ts';

test('a job is watched for 15 s from the last bell that named it', () => {
  const watched = new Watched();
  watched.add(['a', 'b'], 0);
  watched.add(['a'], 10_000);
  expect([watched.has('a', 14_999), watched.has('b', 14_999), watched.has('c', 14_999)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([watched.has('a', 15_000), watched.has('b', 15_000)]).toEqual([true, false]);
  expect(watched.has('a', 25_000)).toBe(false);
});

test('of more than it has room for it knows those that were named last', () => {
  const watched = new Watched();
  watched.add(['first', 'again'], 0);
  for (let n = 0; n < 300; n++) {
    watched.add(
      Array.from({ length: 100 }, (_, i) => `${n}-${i}`),
      n,
    );
    watched.add(['again'], n);
  }
  expect(watched.has('first', 300)).toBe(false);
  expect(watched.has('0-0', 300)).toBe(false);
  expect(watched.has('again', 300)).toBe(true);
  expect(watched.has('299-0', 300)).toBe(true);
});
