// What waits again in a run when jobs of it were given back: those themselves, and what was skipped because of them.
import type { JobState } from '../contract/job.ts';
import { isEnded } from './states.ts';

export interface RunJob {
  position: number;
  state: JobState;
  /** Of an ended job: its children have been told. */
  settled: boolean;
  upstream_ok: boolean;
  upstream_failed: boolean;
  parents: number[];
  children: number[];
  /** It may run after something before it did not complete. */
  is_tolerant: boolean;
}

/** What a job that waits again waits for, and what it has been told of the others. */
export interface Revived {
  position: number;
  blocked_on: number;
  upstream_ok: boolean;
  upstream_failed: boolean;
}

/**
 * The jobs that wait, told anew of all their parents: those at `retried`, which are blocked already, and below them what
 * is blocked or was skipped; but not what would be skipped again, because of another parent. What has begun goes on.
 */
export function revive(jobs: readonly RunJob[], retried: readonly number[]): Revived[] {
  const byPosition = new Map(jobs.map((job) => [job.position, job]));
  const revived = new Map<number, Revived>();
  for (const job of inOrder(byPosition, retried)) {
    const told = { position: job.position, blocked_on: 0, upstream_ok: true, upstream_failed: false };
    for (const position of job.parents) {
      const parent = byPosition.get(position);
      if (!parent) continue;
      if (revived.has(position) || !isEnded(parent.state) || !parent.settled) told.blocked_on++;
      else {
        told.upstream_ok &&= parent.state === 'completed' && parent.upstream_ok;
        told.upstream_failed ||= parent.state === 'failed' || parent.upstream_failed;
      }
    }
    if (job.state === 'blocked' || told.upstream_ok || job.is_tolerant) revived.set(job.position, told);
  }
  return [...revived.values()];
}

/** The retried jobs and all that is blocked or skipped below them, each behind all its parents that are among them. */
function inOrder(byPosition: ReadonlyMap<number, RunJob>, retried: readonly number[]): RunJob[] {
  const found = new Map<number, RunJob>();
  const take = (position: number) => {
    const job = byPosition.get(position);
    if (job && (job.state === 'blocked' || job.state === 'skipped')) found.set(position, job);
  };
  for (const position of retried) {
    take(position);
    const job = byPosition.get(position);
    // It has ended again before anyone looked, and tells that to those who had been told of its first end.
    if (!job || job.state === 'blocked' || job.settled) continue;
    for (const child of job.children) if (byPosition.get(child)?.state === 'blocked') take(child);
  }
  // A map hands out what is added while it is walked.
  for (const { children } of found.values()) for (const child of children) take(child);

  const missing = new Map<number, number>();
  for (const { position, parents } of found.values())
    missing.set(position, parents.filter((parent) => found.has(parent)).length);
  const ordered = [...found.values()].filter(({ position }) => missing.get(position) === 0);
  for (const { children } of ordered) {
    for (const child of children) {
      const left = (missing.get(child) ?? 0) - 1;
      missing.set(child, left);
      const job = found.get(child);
      if (left === 0 && job) ordered.push(job);
    }
  }
  return ordered;
}
