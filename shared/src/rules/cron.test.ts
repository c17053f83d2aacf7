// When schedules tick: the expressions that are read, and what happens where clocks change.
import { describe, expect, it, test } from 'vitest';
import { CHANGES, CHANGE_TICKS } from './clock-changes.fixture.ts';
import { nextTick, nextTicks, rhythmIssue, ticksBetween } from './cron.ts';

const iso = (times: Date[]) => times.map((time) => time.toISOString().slice(0, 16));
const from = new Date('2026-01-01T00:00:00Z');

describe.each(CHANGES)('$timezone in $season', ({ timezone, season, begin, end }) => {
  it.each(['30 2 * * *', '*/15 * * * *', '0 * * * *'] as const)('%s', (cron) => {
    const ticks = ticksBetween({ cron, timezone }, new Date(begin), new Date(end), 100);
    expect(iso(ticks)).toEqual(CHANGE_TICKS[`${cron} ${timezone} ${season}`]);
  });
});

test.each([
  // In Berlin 02:00 to 03:00 is skipped on 29 March and comes twice on 25 October.
  ['30 2,14 * * *', '2026-03-29T00:00Z', ['2026-03-29T01:00', '2026-03-29T12:30']],
  ['30 2,14 * * *', '2026-10-24T13:00Z', ['2026-10-25T00:30', '2026-10-25T13:30']],
  ['0,30 2 * * *', '2026-03-29T00:00Z', ['2026-03-29T01:00', '2026-03-30T00:00']],
  ['30 */2 * * *', '2026-03-29T00:00Z', ['2026-03-29T02:30', '2026-03-29T04:30']],
  ['30 */2 * * *', '2026-10-24T23:00Z', ['2026-10-25T00:30', '2026-10-25T01:30']],
])('%s from %s in Berlin', (cron, after, ticks) => {
  expect(iso(nextTicks({ cron, timezone: 'Europe/Berlin' }, new Date(after), 2))).toEqual(ticks);
});

test.each([
  ['@hourly', '2026-01-01T01:00'],
  ['@daily', '2026-01-02T00:00'],
  ['0 0 29 2 *', '2028-02-29T00:00'],
  ['0 9 * * MON-FRI', '2026-01-01T09:00'],
  ['0 0 1,15 * 5', '2026-01-02T00:00'],
  ['0 0 L * *', '2026-01-31T00:00'],
])('%s is read', (cron, tick) => {
  expect(rhythmIssue({ cron, timezone: 'UTC' })).toBeNull();
  expect(nextTick({ cron, timezone: 'UTC' }, from)?.toISOString()).toBe(`${tick}:00.000Z`);
});

test.each([
  ['0 0 30 2 *', 'it never comes'],
  ['0 0 31 2,4,6 *', 'it never comes'],
  ['0 0 * *', 'it needs five fields'],
  ['0 0 0 * * *', 'it needs five fields'],
  ['2026-01-01T00:00:00', 'it needs five fields'],
  ['', 'it needs five fields'],
  ['@every 5m', 'it needs five fields'],
  ['@never', 'invalid'],
  ['@reboot', 'not supported'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['*/0 * * * *', 'illegal stepping'],
  ['5-1 * * * *', "larger than to value: '5-1'"],
  ['a b c d e', 'illegal characters'],
])('%s is refused: %s', (cron, why) => {
  expect(rhythmIssue({ cron, timezone: 'UTC' })).toEqual({
    path: 'cron',
    message: expect.stringContaining(why),
  });
});

test.each(['Mars/Olympus', '', '+02:00', 'Z'])('a time zone "%s" is refused', (timezone) => {
  expect(rhythmIssue({ cron: '@daily', timezone })).toEqual({
    path: 'timezone',
    message: expect.stringContaining('Europe/Berlin'),
  });
});

test.each([
  ['Australia/Lord_Howe', '2026-04-04T12:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T12:00Z'],
  ['Africa/Cairo', '2026-04-23T18:00Z'],
  ['Africa/Cairo', '2026-10-29T18:00Z'],
])(
  'half an hour or midnight may be what changes, as in %s: no quarter is without its tick',
  (timezone, begin) => {
    const after = new Date(begin);
    const ticks = ticksBetween(
      { cron: '*/15 * * * *', timezone },
      after,
      new Date(Number(after) + 5 * 3_600_000),
      99,
    );
    expect(ticks.map((tick) => (Number(tick) - Number(after)) / 900_000)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  },
);
