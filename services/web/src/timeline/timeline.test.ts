import type { Attempt, Job } from '@wfg/shared/contract/job';
import { expect, test } from 'vitest';
import { marksOf } from './scale.ts';
import { criticalPath, readyTimes, spansOf } from './spans.ts';

const START = Date.parse('2026-01-01T00:00:00.000Z');
const time = (secs: number) => new Date(START + secs * 1_000).toISOString();

function job(job_id: string, change: Partial<Job> = {}): Job {
  return {
    job_id,
    name: job_id,
    state: 'completed',
    cancelling: false,
    uses: null,
    depends_on: [],
    required_labels: [],
    priority: 0,
    attempt: 0,
    tries: 1,
    max_attempts: 3,
    run_at: time(0),
    started_at: time(1),
    finished_at: time(3),
    worker_id: 'w',
    error: null,
    waiting: null,
    reused_from: null,
    metadata: {},
    ...change,
  };
}

const attempt = (number: number, from: number, to: number, outcome: Attempt['outcome']): Attempt => ({
  attempt: number,
  try: number + 1,
  worker_id: 'w',
  started_at: time(from),
  finished_at: time(to),
  outcome,
  error: null,
  exit_code: null,
  step: null,
  log: { chunks: 0, lines: 0, bytes: 0 },
});

const secs = (spans: ReturnType<typeof spansOf>) =>
  spans.map(({ kind, from, to, tone }) => [
    kind,
    (from - START) / 1_000,
    to === null ? null : (to - START) / 1_000,
    tone,
  ]);

test('a job waits, then runs', () => {
  expect(secs(spansOf(job('a'), START, []))).toEqual([
    ['wait', 0, 1, 'wait'],
    ['run', 1, 3, 'good'],
  ]);
});

test('every attempt and the waits between them are seen', () => {
  const retried = job('a', { attempt: 2, state: 'active', started_at: time(9), finished_at: null });
  const earlier = [attempt(0, 1, 2, 'failed'), attempt(1, 4, 6, 'lost'), attempt(2, 9, 9, null)];
  expect(secs(spansOf(retried, START, earlier))).toEqual([
    ['wait', 0, 1, 'wait'],
    ['run', 1, 2, 'bad'],
    ['wait', 2, 4, 'wait'],
    ['run', 4, 6, 'warn'],
    ['wait', 6, 9, 'wait'],
    ['run', 9, null, 'run'],
  ]);
});

test('what waits for a worker waits on, and what is blocked, skipped or taken over has nothing to show', () => {
  const idle = { started_at: null, finished_at: null };
  expect(secs(spansOf(job('a', { ...idle, state: 'pending' }), START, []))).toEqual([
    ['wait', 0, null, 'wait'],
  ]);
  expect(spansOf(job('a', { ...idle, state: 'blocked' }), null, [])).toEqual([]);
  expect(spansOf(job('a', { ...idle, state: 'skipped', finished_at: time(3) }), START, [])).toEqual([]);
  expect(spansOf(job('a', { reused_from: 'run' }), START, [])).toEqual([]);
});

const graph = [
  job('quick'),
  job('slow', { finished_at: time(5) }),
  job('join', { depends_on: ['quick', 'slow'], started_at: time(6), finished_at: time(8) }),
  job('beside', { finished_at: time(7) }),
  job('skipped', { state: 'skipped', depends_on: ['join'], finished_at: time(9), started_at: null }),
  job('later', { state: 'blocked', depends_on: ['skipped', 'waits'], finished_at: null, started_at: null }),
  job('waits', { state: 'pending', finished_at: null, started_at: null }),
];

test('when jobs could begin', () => {
  const ready = readyTimes(graph, START);
  expect(ready.get('quick')).toBe(START);
  expect(ready.get('join')).toBe(START + 5_000);
  expect(ready.get('later')).toBeNull();
});

test('the jobs that make the run as long as it is', () => {
  expect([...criticalPath(graph)]).toEqual(['join', 'slow']);
  const going = [...graph, job('going', { state: 'active', finished_at: null, depends_on: ['quick'] })];
  expect([...criticalPath(going)]).toEqual(['going', 'quick']);
});

test.each([
  [4_000, 6, [0, 1_000, 2_000, 3_000, 4_000]],
  [90_000, 5, [0, 30_000, 60_000, 90_000]],
  [0, 5, [0]],
])('marks of %s ms', (length, most, expected) => {
  expect(marksOf(length, most)).toEqual(expected);
});
