import { expect, test } from 'vitest';
import type { JobState } from '../contract/job.ts';
import { type JobRow, toJob } from './job-row.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const later = new Date(now.getTime() + 1);

const row: JobRow = {
  run_id: '00000000-0000-7000-8000-000000000000',
  position: 1,
  version: 1,
  job_id: 'a',
  name: 'A',
  workflow_id: null,
  workflow_type: null,
  state: 'pending',
  cancel_requested_at: null,
  parents: [],
  required_labels: [':command', 'gpu'],
  priority: 0,
  attempt: -1,
  tries: 0,
  max_attempts: 3,
  created_at: new Date(0),
  run_at: now,
  begun_at: null,
  started_at: null,
  finished_at: null,
  worker_id: null,
  error: null,
  reused_from: null,
  metadata: null,
};

const gpu = { labels: new Set([':command', 'gpu']), workers: 2, places: 4, isFull: false };

/** The job, with parents at positions from 2 on. */
const shown = (change: Partial<JobRow>, states: Record<string, JobState> = {}, offers = [gpu]) => {
  const parents = Object.entries(states).map(
    ([job_id, state], index) => [index + 2, { job_id, state }] as const,
  );
  return toJob(
    { ...row, parents: parents.map(([position]) => position), ...change },
    { now, parents: new Map(parents), offers },
  );
};

test('a job that never ran shows attempt 0, its own labels, and waits for nothing when it is due', () => {
  expect(shown({})).toMatchObject({ attempt: 0, required_labels: ['gpu'], metadata: {}, waiting: null });
});

test('a job whose time has not come is delayed', () => {
  const until = later.toISOString();
  expect(shown({ run_at: later }).waiting).toMatchObject({ reason: 'delayed', until, on: [] });
  expect(shown({ run_at: later, tries: 1 }).waiting?.detail).toBe(`try 2 of 3 is due at ${until}`);
});

test('a job that is due says so when nobody offers what it requires', () => {
  const waiting = { reason: 'no_worker', detail: 'no live worker offers label arm', until: null, on: [] };
  expect(shown({ required_labels: [':command', 'arm'] }).waiting).toEqual(waiting);
  expect(shown({ required_labels: [':command', 'arm'], state: 'active' }).waiting).toBeNull();
});

test('a job that is due says so when all places for it are taken', () => {
  const detail = 'all 4 places of the 2 workers that could take it are busy';
  const full = [{ ...gpu, isFull: true }];
  expect(shown({}, {}, full).waiting).toEqual({ reason: 'capacity', detail, until: null, on: [] });
  expect(shown({ run_at: later }, {}, full).waiting?.reason).toBe('delayed');
  expect(shown({ state: 'active' }, {}, full).waiting).toBeNull();
});

test('a blocked job names the parents that have not ended', () => {
  const states = { p: 'completed', q: 'active', r: 'pending', s: 'blocked', t: 'blocked' } as const;
  const { waiting, depends_on } = shown({ state: 'blocked' }, states);
  expect(depends_on).toEqual(['p', 'q', 'r', 's', 't']);
  expect(waiting).toEqual({
    reason: 'dependencies',
    detail: 'waits for q, r, s and 1 more',
    until: null,
    on: ['q', 'r', 's', 't'],
  });
});

test('the last error is shown unless the job completed; a cancel is only under way while the job runs', () => {
  expect(shown({ state: 'completed', error: 'first try' }).error).toBeNull();
  expect(shown({ state: 'failed', error: 'no' }).error).toBe('no');
  expect(shown({ state: 'active', cancel_requested_at: now }).cancelling).toBe(true);
  expect(shown({ state: 'cancelled', cancel_requested_at: now }).cancelling).toBe(false);
});
