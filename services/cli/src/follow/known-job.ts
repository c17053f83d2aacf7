// What a follower remembers of a job, to tell from a snapshot what it has not been told yet.
import type { Job, JobState } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';

export type JobEvent = Extract<RunEvent, { job_id: string }>;

export interface KnownJob {
  state: JobState;
  attempt: number;
  cancelling: boolean;
}

/** Whether the job differs from what is known of it, or, when nothing is, from one that has just been created. */
export function isNews(known: KnownJob | undefined, job: Job): boolean {
  if (known === undefined) return !((job.state === 'blocked' || job.state === 'pending') && job.tries === 0);
  return known.state !== job.state || known.attempt !== job.attempt || known.cancelling !== job.cancelling;
}

export function afterEvent(event: JobEvent): KnownJob {
  if (event.type === 'changed') return event.job;
  return { state: stateAfter(event), attempt: event.attempt, cancelling: false };
}

function stateAfter(event: Exclude<JobEvent, { type: 'changed' }>): JobState {
  switch (event.type) {
    case 'ready':
    case 'lease_expired':
      return 'pending';
    case 'started':
      return 'active';
    case 'failed':
      return event.retryable ? 'pending' : 'failed';
    default:
      return event.type;
  }
}

/** Whether the event shows that the job has begun an attempt, which has a log. */
export function hasBegun(event: JobEvent): boolean {
  if (event.type === 'changed') return event.job.started_at !== null || event.job.attempt > 0;
  return event.type !== 'ready' && event.type !== 'skipped' && event.type !== 'cancelled';
}
