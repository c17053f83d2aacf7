// What happened between two readings of a run, as events. Nothing is stored for this: events are derived.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { Run } from '@wfg/shared/contract/run';
import type { Ending } from '@wfg/shared/queries/endings';
import { isEnded } from '@wfg/shared/rules/states';

/** Jobs that differ between two readings; `before` by job id. */
export function changedJobs(before: ReadonlyMap<string, Job>, after: readonly Job[]): Job[] {
  return after.filter((job) => fingerprint(before.get(job.job_id)) !== fingerprint(job));
}

/**
 * What makes a job different. Which of its dependencies a job still waits for follows from their states, which the
 * viewer has: told again with each of 5,000 parents it would be 5,000 times a list of 5,000.
 */
function fingerprint(job: Job | undefined): string {
  return JSON.stringify(job?.waiting?.reason === 'dependencies' ? { ...job, waiting: null } : job);
}

/**
 * The events that lead from one reading of a run to the next, in the order in which they can have happened. What lies
 * between the readings and has left no trace (an attempt that began and was repeated) is not made up.
 */
export function eventsBetween(before: Run, after: Run, endings: ReadonlyMap<string, Ending>): RunEvent[] {
  const known = new Map(before.jobs.map((job) => [job.job_id, job]));
  const stamp = { workflow_id: after.workflow_id, run_id: after.run_id, rev: after.rev };
  const events: RunEvent[] = [];
  if (before.started_at === null && after.started_at !== null) {
    events.push({ type: 'run_started', ...stamp, at: after.started_at });
  }
  for (const job of changedJobs(known, after.jobs)) {
    const previous = known.get(job.job_id);
    if (previous) events.push(...jobEvents(previous, job, endings.get(job.job_id), stamp));
  }
  if (before.finished_at === null && after.finished_at !== null) {
    events.push({ type: 'run_finished', ...stamp, at: after.finished_at, status: after.status });
  }
  // A transition raises the version by as much as it has events, so each gets a rev of its own, the last the run's.
  return events.map((event, index) => ({ ...event, rev: after.rev - (events.length - 1 - index) }));
}

type Stamp = Pick<RunEvent, 'workflow_id' | 'run_id' | 'rev'>;

function jobEvents(before: Job, after: Job, ending: Ending | undefined, stamp: Stamp): RunEvent[] {
  const base = { ...stamp, job_id: after.job_id, attempt: after.attempt };
  const now = after.finished_at ?? after.started_at ?? after.run_at;
  const worker_id = after.worker_id ?? '';
  const events: RunEvent[] = [];
  if (after.started_at !== null && after.started_at !== before.started_at) {
    events.push({ type: 'started', ...base, at: after.started_at, worker_id });
  }
  if (ending?.outcome === 'lost' && (after.state === 'pending' || isEnded(after.state))) {
    events.push({ type: 'lease_expired', ...base, at: now, worker_id });
  }
  const named = stateEvent(before, after, ending, { ...base, at: now });
  if (named) events.push(named);
  if (events.length === 0) events.push({ type: 'changed', ...base, at: now, job: after });
  return events;
}

type JobStamp = Stamp & { job_id: string; attempt: number; at: string };

function stateEvent(before: Job, after: Job, ending: Ending | undefined, stamp: JobStamp): RunEvent | null {
  if (before.state === after.state && before.attempt === after.attempt) return null;
  const error = after.error ?? '';
  switch (after.state) {
    case 'pending':
      if (before.state === 'blocked') return { type: 'ready', ...stamp };
      if (ending?.outcome !== 'failed' && ending?.outcome !== 'timed_out') return null;
      return { type: 'failed', ...stamp, error, retryable: true, retry_at: after.run_at };
    case 'completed':
      return { type: 'completed', ...stamp, outputs: ending?.outputs ?? [] };
    case 'failed':
      return { type: 'failed', ...stamp, error, retryable: false, retry_at: null };
    case 'cancelled':
      return { type: 'cancelled', ...stamp };
    case 'skipped':
      return { type: 'skipped', ...stamp, reason: error };
    default:
      return null;
  }
}
