// What a follower remembers of a job, to tell from a snapshot what it has not been told yet.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';

export type JobEvent = Extract<RunEvent, { job: Job }>;

/** Whether the job differs from what is known of it, or, when nothing is, from one that has just been created. */
export function isNews(known: Job | undefined, job: Job): boolean {
  if (known === undefined) return !((job.state === 'blocked' || job.state === 'pending') && job.tries === 0);
  return known.state !== job.state || known.attempt !== job.attempt || known.cancelling !== job.cancelling;
}
