// A run and a job to test with. The browser client has its own: it may take nothing but types from here.
import type { Job } from './job.ts';
import type { Run } from './run.ts';

export const RUN_ID = '0197a1b2-0000-7000-8000-000000000001';
const TIME = '2026-01-01T00:00:00.000Z';

export function jobOf(change: Partial<Job>): Job {
  return {
    job_id: 'build',
    name: 'Build',
    state: 'pending',
    cancelling: false,
    uses: null,
    depends_on: [],
    required_labels: [],
    priority: 0,
    attempt: 0,
    tries: 0,
    max_attempts: 1,
    run_at: TIME,
    started_at: null,
    finished_at: null,
    worker_id: null,
    error: null,
    waiting: null,
    reused_from: null,
    metadata: {},
    ...change,
  };
}

export function runOf(change: Partial<Run>): Run {
  return {
    run_id: RUN_ID,
    number: 1,
    workflow_id: 'ci',
    workflow_type: null,
    name: 'CI',
    status: 'pending',
    rev: 1,
    created_at: TIME,
    started_at: null,
    finished_at: null,
    rerun_of: null,
    error: null,
    payload: null,
    jobs: [jobOf({})],
    ...change,
  };
}
