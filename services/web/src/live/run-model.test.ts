import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import { effect } from '@preact/signals';
import { expect, test } from 'vitest';
import { createRunModel } from './run-model.ts';
import { RUN_ID, jobOf, runOf } from './run.fixture.ts';

const stamp = { workflow_id: 'ci', run_id: RUN_ID, at: '2026-01-01T00:01:00.000Z' };

/** Of the job, which is so from then on. */
const of = (change: Partial<Job>) => {
  const job = jobOf(change);
  return { ...stamp, job_id: job.job_id, attempt: job.attempt, job };
};
const active = { state: 'active', tries: 1, worker_id: 'w1', started_at: stamp.at } as const;
const started = { type: 'started', worker_id: 'w1' } as const;

function modelOf(...jobs: Job[]) {
  const told: string[] = [];
  const model = createRunModel({
    onJob: (job) => told.push(`${job.job_id} ${job.state}`),
    onRun: (run) => told.push(`run ${run.status}`),
  });
  const snapshot = (rev: number, list = jobs) =>
    model.receive({ op: 'snapshot', id: 's', run: runOf({ rev, jobs: list }) });
  const event = (change: RunEvent) => model.receive({ op: 'event', id: 's', event: change });
  snapshot(1);
  return { model, told, snapshot, event, build: () => model.job('build')?.value };
}

test('a run from its first event to its last', () => {
  const { model, told, event, build } = modelOf(jobOf({ max_attempts: 2 }));
  event({ ...stamp, type: 'run_started', rev: 2 });
  event({ ...of(active), ...started, rev: 3 });
  expect(build()).toMatchObject({ state: 'active', tries: 1, worker_id: 'w1', started_at: stamp.at });
  const failure = { error: 'exit code 1', retryable: true, retry_at: stamp.at };
  event({ ...of({ ...active, state: 'pending', error: 'exit code 1' }), type: 'failed', ...failure, rev: 4 });
  expect(build()).toMatchObject({ state: 'pending', error: 'exit code 1' });
  event({ ...of({ ...active, attempt: 1, tries: 2 }), ...started, rev: 5 });
  expect(build()).toMatchObject({ state: 'active', attempt: 1, tries: 2, finished_at: null });
  const completed = { ...active, state: 'completed', finished_at: stamp.at } as const;
  event({ ...of(completed), type: 'completed', outputs: [], rev: 6 });
  expect(build()).toMatchObject({ state: 'completed', error: null, finished_at: stamp.at });
  event({ ...stamp, type: 'run_finished', status: 'completed', rev: 7 });
  expect(model.run.value).toMatchObject({ status: 'completed', rev: 7, finished_at: stamp.at });
  expect(told).toEqual([
    'run running',
    'build active',
    'build pending',
    'build active',
    'build completed',
    'run completed',
  ]);
});

test('after events that were missed a job is what the next one says', () => {
  const { event, build } = modelOf(jobOf({}));
  event({ ...of({ ...active, attempt: 4, tries: 3 }), ...started, rev: 20 });
  expect(build()).toMatchObject({ attempt: 4, tries: 3 });
});

test('an event that is not newer than what is known is ignored', () => {
  const { told, event, build } = modelOf(jobOf({}));
  event({ ...of({ state: 'cancelled' }), type: 'cancelled', rev: 1 });
  event({ ...of(active), ...started, rev: 3 });
  event({ ...of({ state: 'skipped' }), type: 'skipped', reason: 'late', rev: 2 });
  event({ ...of({ state: 'skipped' }), type: 'skipped', reason: 'again', rev: 3 });
  expect(build()?.state).toBe('active');
  expect(told).toEqual(['build active']);
});

test('a snapshot older than what is known is ignored, one as new is taken', () => {
  const { event, snapshot, build } = modelOf(jobOf({}));
  event({ ...of(active), ...started, rev: 5 });
  snapshot(4, [jobOf({ state: 'pending' })]);
  expect(build()?.state).toBe('active');
  snapshot(5, [jobOf({ state: 'active', worker_id: 'w9' })]);
  expect(build()?.worker_id).toBe('w9');
});

test('a job that is being stopped makes the run cancelling', () => {
  const { model, event } = modelOf(jobOf({ state: 'active' }));
  event({ ...of({ ...active, cancelling: true }), type: 'changed', rev: 2 });
  expect(model.run.value?.status).toBe('cancelling');
});

test('an event redraws its own job only, and the list not at all', () => {
  const { model, event } = modelOf(jobOf({}), jobOf({ job_id: 'test' }));
  const drawn = { build: 0, test: 0, list: 0 };
  effect(() => void (model.job('build')?.value, (drawn.build += 1)));
  effect(() => void (model.job('test')?.value, (drawn.test += 1)));
  effect(() => void (model.jobs.value, (drawn.list += 1)));
  event({ ...of(active), ...started, rev: 2 });
  expect(drawn).toEqual({ build: 2, test: 1, list: 1 });
});

test('a refusal is shown until something is sent after all', () => {
  const { model, snapshot } = modelOf(jobOf({}));
  model.receive({ op: 'error', id: 's', code: 'unavailable', detail: 'the database is away' });
  expect(model.problem.value).toBe('the database is away');
  snapshot(2);
  expect(model.problem.value).toBeNull();
});
