// What an event changes in a job and in its run. Pure; the order and freshness of events is the caller's matter.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { RunSummary } from '@wfg/shared/contract/run';

export type RunHeadEvent = Extract<RunEvent, { type: 'run_started' | 'run_finished' }>;
export type JobEvent = Exclude<RunEvent, RunHeadEvent>;

/** The job after the event. */
export function applyToJob(job: Job, event: JobEvent): Job {
  switch (event.type) {
    case 'changed':
      return event.job;
    case 'ready':
      return { ...job, state: 'pending', waiting: null, run_at: event.at };
    case 'started':
      return {
        ...job,
        state: 'active',
        attempt: event.attempt,
        tries: job.tries + 1,
        worker_id: event.worker_id,
        started_at: event.at,
        finished_at: null,
        waiting: null,
      };
    case 'completed':
      return { ...ended(job, 'completed', event.at), error: null };
    case 'failed':
      return event.retryable
        ? { ...job, state: 'pending', error: event.error, run_at: event.retry_at ?? event.at }
        : { ...ended(job, 'failed', event.at), error: event.error };
    case 'lease_expired':
      return {
        ...job,
        state: 'pending',
        error: `lease expired: worker ${event.worker_id} stopped renewing it`,
      };
    case 'cancelled':
      return ended(job, 'cancelled', event.at);
    case 'skipped':
      return { ...ended(job, 'skipped', event.at), error: event.reason };
    default:
      // A type that only a newer server knows: the next snapshot brings what it meant.
      return job;
  }
}

function ended(job: Job, state: Job['state'], at: string): Job {
  return { ...job, state, cancelling: false, finished_at: at, waiting: null };
}

/** The run after an event about itself. */
export function applyToRun(run: RunSummary, event: RunHeadEvent): RunSummary {
  return event.type === 'run_started'
    ? { ...run, rev: event.rev, status: 'running', started_at: event.at }
    : { ...run, rev: event.rev, status: event.status, finished_at: event.at };
}

/** The run after one of its jobs changed: a cancel of the run shows first in jobs that are being stopped. */
export function afterJob(run: RunSummary, job: Job, rev: number): RunSummary {
  const open = run.status === 'pending' || run.status === 'running';
  return { ...run, rev, status: open && job.cancelling ? 'cancelling' : run.status };
}
