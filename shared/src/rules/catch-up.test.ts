// What becomes of ticks that are due, slice by slice.
import type { CatchUp } from '../contract/cron.ts';
import { describe, expect, it, test } from 'vitest';
import { decideTicks } from './catch-up.ts';

const HOUR = 3_600_000;
const start = new Date('2026-06-01T00:00:00Z');
const later = (ms: number) => new Date(Number(start) + ms);
const schedule = (catch_up: CatchUp, cron = '0 * * * *') => ({
  cron,
  timezone: 'UTC',
  catch_up,
  next_at: start,
});
const hours = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => later((first + n) * HOUR));

/** Everything that is decided until nothing is due any more. */
function decideAll(catch_up: CatchUp, cron: string, now: Date) {
  const missed: Date[] = [];
  const fired: Date[] = [];
  let slices = 0;
  let next: Date | null = start;
  for (; next !== null && next <= now; slices++) {
    const decision = decideTicks({ ...schedule(catch_up, cron), next_at: next }, now);
    missed.push(...decision.missed);
    fired.push(...decision.fired);
    next = decision.next;
  }
  return { missed, fired, next, slices };
}

describe.each(['skip', 'last', 'all'] as const)('%s', (catch_up) => {
  it('starts what is due just now', () => {
    const decision = { missed: [], fired: [start], next: later(HOUR) };
    expect(decideTicks(schedule(catch_up), start)).toEqual(decision);
    expect(decideTicks(schedule(catch_up), later(59_999))).toEqual(decision);
  });
});

test('after an outage: nothing, the latest, or each', () => {
  const now = later(2 * HOUR + 60_000);
  const next = later(3 * HOUR);
  expect(decideTicks(schedule('skip'), now)).toEqual({ missed: hours(0, 3), fired: [], next });
  expect(decideTicks(schedule('last'), now)).toEqual({ missed: hours(0, 2), fired: hours(2, 1), next });
  expect(decideTicks(schedule('all'), now)).toEqual({ missed: [], fired: hours(0, 3), next });
});

test('after a long one a slice is bounded, and all of them together are each tick once', () => {
  const now = later(29 * 24 * HOUR);
  const every = hours(0, 29 * 24 + 1);
  expect(decideTicks(schedule('last'), now)).toEqual({
    missed: every.slice(0, 500),
    fired: [],
    next: every[500],
  });
  expect(decideAll('last', '0 * * * *', now)).toMatchObject({
    missed: every.slice(0, -1),
    fired: every.slice(-1),
  });
  expect(decideAll('skip', '0 * * * *', later(29 * 24 * HOUR + 60_000))).toMatchObject({
    missed: every,
    fired: [],
  });
  expect(decideAll('all', '0 * * * *', now)).toMatchObject({ missed: [], fired: every, slices: 7 });
});

test('of very many the latest thousand are started', () => {
  const { missed, fired } = decideAll('all', '*/10 * * * *', later(10 * 24 * HOUR));
  expect([missed.length, fired.length]).toEqual([441, 1_000]);
  expect(fired.at(-1)).toEqual(later(10 * 24 * HOUR));
});

test('what is older than 30 days leaves no trace, unless it is to be started', () => {
  const many = decideAll('last', '*/10 * * * *', later(40 * 24 * HOUR));
  expect([many.missed.length, many.missed[0], many.fired]).toEqual([
    30 * 144 - 1,
    later(10 * 24 * HOUR + 600_000),
    [later(40 * 24 * HOUR)],
  ]);
  const all = decideAll('all', '0 * * * *', later(65 * 24 * HOUR));
  expect([all.missed.length, all.fired.length]).toEqual([561, 1_000]);
  const yearly = { ...schedule('last', '@yearly'), next_at: new Date('2026-01-01T00:00Z') };
  expect(decideTicks(yearly, start)).toEqual({
    missed: [],
    fired: [yearly.next_at],
    next: new Date('2027-01-01T00:00Z'),
  });
});
