import type { Schedule } from '@wfg/shared/contract/schedule';
import { expect, test } from 'vitest';
import { scheduleListText, scheduleText } from './schedule-text.ts';

const pipe = { isTerminal: false, width: Infinity };
const now = Date.parse('2026-11-30T10:00:00.000Z');

const nightly: Schedule = {
  id: 'ci:1',
  cron: '30 2 * * *',
  timezone: 'Europe/Berlin',
  catch_up: 'last',
  paused: false,
  source: 'workflow',
  workflow_id: 'ci',
  env: { A: '1', B: '2' },
  workflow_type: null,
  payload: null,
  max_attempts: null,
  priority: null,
  next_at: '2026-12-01T01:30:00.000Z',
  last_tick_at: '2026-11-30T01:30:00.000Z',
  error: null,
  created_at: '2026-11-01T00:00:00.000Z',
  updated_at: '2026-11-01T00:00:00.000Z',
};
const event: Schedule = {
  ...nightly,
  id: 'e',
  workflow_id: null,
  env: null,
  workflow_type: 't',
  source: 'api',
};

test('schedules are shown by what they start and when, or why not', () => {
  const paused: Schedule = { ...event, paused: true, next_at: null, last_tick_at: null };
  const broken: Schedule = { ...event, id: 'b', next_at: null, error: 'no zone' };
  expect(scheduleListText([nightly, paused, broken], pipe, now)).toMatchInlineSnapshot(`
    "SCHEDULE  CRON        ZONE           STARTS       NEXT     LAST     ERROR
    ci:1      30 2 * * *  Europe/Berlin  workflow ci  in 15 h  8 h ago  -
    e         30 2 * * *  Europe/Berlin  event t      paused   -        -
    b         30 2 * * *  Europe/Berlin  event t      never    8 h ago  no zone
    "
  `);
});

test('a schedule is shown with its next ticks and its latest', () => {
  const next = ['2026-12-01T01:30:00.000Z', '2026-12-02T01:30:00.000Z'];
  const tick = { run_id: null, error: null, at: '2026-11-30T09:00:00.000Z' };
  const ticks = [
    {
      ...tick,
      tick_at: '2026-11-30T01:30:00.000Z',
      outcome: 'failed' as const,
      error: 'there is no workflow ci',
    },
    { ...tick, tick_at: '2026-11-29T01:30:00.000Z', outcome: 'missed' as const },
  ];
  expect(scheduleText(nightly, { next, ticks }, pipe, now)).toMatchInlineSnapshot(`
    "schedule  ci:1
    cron      30 2 * * * (Europe/Berlin)
    starts    workflow ci
    env       A=1
              B=2
    catch up  last
    made by   on.schedule of ci
    next      2026-12-01T01:30:00.000Z
              2026-12-02T01:30:00.000Z

    TICK                      OUTCOME  RUN  AGE  ERROR
    2026-11-30T01:30:00.000Z  failed   -    8 h  there is no workflow ci
    2026-11-29T01:30:00.000Z  missed   -    1 d  -
    "
  `);
  expect(scheduleText({ ...event, payload: { a: [1] } }, { next, ticks: [] }, pipe, now)).toContain(
    'payload   {"a":[1]}\n',
  );
});
