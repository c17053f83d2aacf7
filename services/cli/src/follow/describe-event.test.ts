import type { RunEvent } from '@wfg/shared/contract/live';
import { jobOf, RUN_ID } from '@wfg/shared/contract/run.fixture';
import { expect, test } from 'vitest';
import { briefError, describeEvent, took } from './describe-event.ts';

const began = '2026-11-30T10:00:00.000Z';
const of = {
  workflow_id: null,
  run_id: RUN_ID,
  job_id: 'build',
  attempt: 0,
  rev: 1,
  at: '2026-11-30T10:00:02.100Z',
  job: jobOf({ started_at: began }),
};

test.each<[RunEvent, string]>([
  [{ type: 'started', ...of, worker_id: 'worker-1' }, 'started on worker-1'],
  [{ type: 'started', ...of, attempt: 1, worker_id: 'worker-1' }, 'started on worker-1 (attempt 1)'],
  [{ type: 'completed', ...of, outputs: [] }, 'completed in 2.1 s'],
  [
    { type: 'failed', ...of, error: 'exit code 1: lots\nof output', retryable: false, retry_at: null },
    'failed in 2.1 s: exit code 1',
  ],
  [{ type: 'lease_expired', ...of, worker_id: 'worker-2' }, 'lost: nothing heard from worker-2 in time'],
  [{ type: 'skipped', ...of, reason: 'lint failed' }, 'skipped: lint failed'],
  [
    {
      type: 'changed',
      ...of,
      job: jobOf({ waiting: { reason: 'capacity', detail: 'all places are busy', until: null, on: [] } }),
    },
    'waits: all places are busy',
  ],
  [
    { type: 'changed', ...of, job: jobOf({ state: 'skipped', error: 'lint failed' }) },
    'skipped: lint failed',
  ],
])('%j', (event, text) => {
  expect(describeEvent(event)?.text).toBe(text);
});

test('a failure that is repeated says when', () => {
  const event: RunEvent = { type: 'failed', ...of, error: 'signal KILL: ', retryable: true, retry_at: began };
  expect(describeEvent(event)?.text).toMatch(/^failed: signal KILL; tried again at \d\d:\d\d:\d\d$/);
});

test('what changes nothing that people wait for has no line', () => {
  expect(describeEvent({ type: 'ready', ...of })).toBeNull();
});

test('of an error that ends with the output only the reason is repeated', () => {
  expect(briefError('timeout after 5s: a\nb')).toBe('timeout after 5s');
  expect(briefError('the worker was lost\nmore')).toBe('the worker was lost');
});

test('durations', () => {
  expect(took(began, '2026-11-30T10:02:05.000Z')).toBe(' in 2 min 5 s');
  expect(took(began, '2026-11-30T12:02:00.000Z')).toBe(' in 2 h 2 min');
  expect(took(null, began)).toBe('');
});
