import { expect, test } from 'vitest';
import { noWorker } from './no-worker.ts';

const offers = [
  [':command', 'linux'],
  [':command', 'gpu'],
  [':event user.created', 'gpu'],
].map((labels) => ({ labels: new Set(labels), workers: 1, places: 1, isFull: false }));

test.each([
  [[':command'], null],
  [[':command', 'gpu'], null],
  [[':event user.created', 'gpu'], null],
  [[':command', 'arm'], 'no live worker offers label arm'],
  [[':command', 'gpu', 'arm', 'big'], 'no live worker offers labels arm and big'],
  [[':command', 'gpu', 'linux'], 'no live worker offers labels gpu and linux'],
  [[':event ml.run'], 'no live worker has a handler for ml.run'],
  [[':event ml.run', 'gpu'], 'no live worker has a handler for ml.run'],
  [[':event user.created', 'linux'], 'no live worker has a handler for user.created and offers label linux'],
])('with two workers, %j: %s', (required, words) => {
  expect(noWorker(required, offers)).toBe(words);
});

test('without any worker, what can be said about the job is said', () => {
  expect(noWorker([':command'], [])).toBe('no live worker runs commands');
  expect(noWorker([':command', 'gpu'], [])).toBe('no live worker offers label gpu');
});
