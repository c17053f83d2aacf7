// Which jobs of an ended run a rerun executes again; the others are taken over as they ended.
import type { JobState } from '../contract/job.ts';
import { WfgError } from '../contract/problem.ts';

export interface EndedJob {
  position: number;
  job_id: string;
  state: JobState;
  /** It completed, and so did all that it is below. */
  upstream_ok: boolean;
  parents: number[];
  children: number[];
  /** It may run after something before it did not complete. */
  is_tolerant: boolean;
}

/** What a rerun begins at, in place of a job's id: whatever failed or was cancelled. */
export const FAILED = 'failed';

/**
 * The positions of the jobs to execute: all; those that failed or were cancelled and all below them (`failed`); or one
 * job and all below it. What is below is always executed again, since what it read changes.
 *
 * @throws {WfgError} not_found: there is no such job. conflict: nothing failed, or the job would be skipped at once.
 */
export function chooseRerun(jobs: readonly EndedJob[], from: string | undefined): number[] {
  if (from === undefined) return jobs.map((job) => job.position);
  const byPosition = new Map(jobs.map((job) => [job.position, job]));
  const chosen = new Set(from === FAILED ? failed(jobs) : [only(jobs, byPosition, from).position]);
  // A set hands out what is added while it is walked.
  for (const position of chosen)
    for (const child of byPosition.get(position)?.children ?? []) chosen.add(child);
  return [...chosen];
}

function failed(jobs: readonly EndedJob[]): number[] {
  const found = jobs.filter(({ state }) => state === 'failed' || state === 'cancelled');
  if (found.length === 0)
    throw new WfgError(
      'conflict',
      'nothing in the run failed or was cancelled: rerun it whole, or from a job',
    );
  return found.map((job) => job.position);
}

function only(jobs: readonly EndedJob[], byPosition: ReadonlyMap<number, EndedJob>, jobId: string): EndedJob {
  const job = jobs.find(({ job_id }) => job_id === jobId);
  if (!job) throw new WfgError('not_found', `the run has no job ${jobId}`);
  const parents = job.parents.flatMap((position) => byPosition.get(position) ?? []);
  const bad = parents.find((parent) => parent.state !== 'completed' || !parent.upstream_ok);
  if (bad && !job.is_tolerant) {
    const detail = `${jobId} would be skipped: it needs ${bad.job_id}, which is ${bad.state}`;
    throw new WfgError('conflict', `${detail}: rerun from what failed`);
  }
  return job;
}
