// Which job a run page shows while the reader has not chosen one.
import type { Job } from '@wfg/shared/contract/job';

/**
 * A failed job, else a running one, else the one already shown, else the first. What is shown stays while it runs or
 * has failed: nobody likes a log that is taken away while they read it.
 */
export function pickJob(jobs: readonly Job[], shown: string | null): string | null {
  const current = jobs.find((job) => job.job_id === shown);
  if (current?.state === 'active' || current?.state === 'failed') return current.job_id;
  const pick =
    jobs.find((job) => job.state === 'failed') ??
    jobs.find((job) => job.state === 'active') ??
    current ??
    jobs[0];
  return pick?.job_id ?? null;
}
