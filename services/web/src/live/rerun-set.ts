// What a rerun would execute again, so that a reader sees it before. The server decides; this tells the same. Pure.
import type { Job } from '@wfg/shared/contract/job';

type Known = Pick<Job, 'job_id' | 'state' | 'depends_on'>;

/** Whether something failed or was cancelled, from which a rerun may begin. */
export function hasFailed(jobs: readonly Known[]): boolean {
  return jobs.some(isFailed);
}

/** Ids in the order of the run: all; what failed or was cancelled and all below it; or one job and all below it. */
export function rerunSet(jobs: readonly Known[], from: string | undefined): string[] {
  if (from === undefined) return jobs.map(({ job_id }) => job_id);
  const children = new Map<string, string[]>();
  for (const { job_id, depends_on } of jobs) {
    for (const parent of depends_on) {
      const known = children.get(parent);
      if (known) known.push(job_id);
      else children.set(parent, [job_id]);
    }
  }
  const first = from === 'failed' ? jobs.filter(isFailed).map(({ job_id }) => job_id) : [from];
  const chosen = new Set(first);
  // A set hands out what is added while it is walked.
  for (const id of chosen) for (const child of children.get(id) ?? []) chosen.add(child);
  return jobs.flatMap(({ job_id }) => (chosen.has(job_id) ? job_id : []));
}

function isFailed({ state }: Known): boolean {
  return state === 'failed' || state === 'cancelled';
}
