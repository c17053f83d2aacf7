import { expect, test } from 'vitest';
import { noPlace } from './no-place.ts';
import type { Offer } from './no-worker.ts';

const offer = (labels: string[], workers: number, places: number, isFull: boolean): Offer => ({
  labels: new Set(labels),
  workers,
  places,
  isFull,
});

const offers = [
  offer([':command', 'linux'], 2, 8, true),
  offer([':command', 'gpu'], 1, 1, true),
  offer([':event a', 'gpu'], 1, 100, false),
  offer([':event b', 'gpu'], 1, 100, true),
];

test.each([
  [[':command'], 'all 9 places of the 3 workers that could take it are busy'],
  [[':command', 'linux'], 'all 8 places of the 2 workers that could take it are busy'],
  [[':command', 'gpu'], 'the one place of the worker that could take it is busy'],
  [[':event b'], 'all 100 places of the worker that could take it are busy'],
  [[':event a'], null],
  [[':event c'], null],
])('for %j: %s', (required, words) => {
  expect(noPlace(required, offers)).toBe(words);
});

test('one free place among many is enough', () => {
  expect(noPlace([':command'], [...offers, offer([':command'], 1, 1, false)])).toBeNull();
});
