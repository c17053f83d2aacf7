// What happened between two readings of a run, as events. Nothing is stored for this: events are derived.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import type { Run } from '@wfg/shared/contract/run';
import type { JobTrace, TracedRun } from '@wfg/shared/queries/run';

type JobEvent = Extract<RunEvent, { job: Job }>;

/**
 * The events that lead from one reading of a run to the next, in the order in which they can have happened. What lies
 * between the readings and has left no trace (an attempt that began and was repeated) is not made up. Null when events
 * cannot tell it, and a snapshot must.
 */
export function eventsBetween(before: TracedRun, after: TracedRun): RunEvent[] | null {
  if (hasUnnamedChange(before.run, after.run)) return null;
  const { workflow_id, run_id, rev, started_at, finished_at, status } = after.run;
  const stamp = { workflow_id, run_id, rev };
  const known = new Map(before.run.jobs.map((job) => [job.job_id, job]));
  const events: RunEvent[] = [];
  if (before.run.started_at === null && started_at !== null) {
    events.push({ type: 'run_started', ...stamp, at: started_at });
  }
  for (const job of after.run.jobs) {
    const old = known.get(job.job_id);
    const trace = after.traces.get(job.job_id);
    if (!old || !trace || trace.version === before.traces.get(job.job_id)?.version) continue;
    for (const event of jobEvents(old, job, trace, stamp)) events.push(event);
  }
  if (before.run.finished_at === null && finished_at !== null) {
    events.push({ type: 'run_finished', ...stamp, at: finished_at, status });
  }
  // A transition raises the version by as much as it has events. So each gets a rev of its own, the last the run's,
  // and a client ignores what is not newer than what it has. Should they not suffice, it must not ignore any of them.
  const first = rev - events.length + 1;
  if (first <= before.run.rev && events.length > 0) return null;
  return events.map((event, index) => ({ ...event, rev: first + index }));
}

/** What no event tells: its number, a cancel that was asked for, what is wrong with it, that a dead letter goes on. */
function hasUnnamedChange(before: Run, after: Run): boolean {
  const asked = after.status === 'cancelling' && before.status !== 'cancelling';
  // It may have ended again already.
  const isReopened = before.finished_at !== null && after.finished_at !== before.finished_at;
  return asked || isReopened || before.number !== after.number || before.error !== after.error;
}

type Stamp = Pick<RunEvent, 'workflow_id' | 'run_id' | 'rev'>;

function jobEvents(before: Job, after: Job, trace: JobTrace, stamp: Stamp): JobEvent[] {
  const { job_id, attempt, started_at, state } = after;
  const of = { ...stamp, job_id, attempt, job: after, at: after.finished_at ?? trace.changed_at };
  const worker_id = after.worker_id ?? '';
  const events: JobEvent[] = [];
  const hasBegun = started_at !== null && (started_at !== before.started_at || attempt !== before.attempt);
  if (hasBegun) events.push({ type: 'started', ...of, at: started_at, worker_id, job: begun(before, after) });
  const hasEnded = state !== 'active' && (hasBegun || before.state === 'active');
  if (hasEnded && trace.outcome === 'lost') events.push({ type: 'lease_expired', ...of, worker_id });
  const { outcome, outputs } = trace;
  const error = after.error ?? '';
  if (state === 'pending') {
    if (before.state === 'blocked' && !hasBegun) events.push({ type: 'ready', ...of });
    else if (hasEnded && (outcome === 'failed' || outcome === 'timed_out'))
      events.push({ type: 'failed', ...of, error, retryable: true, retry_at: after.run_at });
  } else if (hasBegun || state !== before.state) {
    if (state === 'completed') events.push({ type: 'completed', ...of, outputs });
    else if (state === 'failed')
      events.push({ type: 'failed', ...of, error, retryable: false, retry_at: null });
    else if (state === 'cancelled') events.push({ type: 'cancelled', ...of });
    else if (state === 'skipped') events.push({ type: 'skipped', ...of, reason: error });
  }
  if (fingerprint(events.at(-1)?.job ?? before) !== fingerprint(after))
    events.push({ type: 'changed', ...of });
  return events;
}

/** The job when its attempt had just begun, whatever has become of that since. */
function begun(before: Job, after: Job): Job {
  const { error } = before;
  return { ...after, state: 'active', cancelling: false, finished_at: null, error, waiting: null };
}

/**
 * What makes a job different. What it waits for is no change of its own: it follows from the states of others and the
 * time, and told again with each of 5,000 parents it would be 5,000 times a list of 5,000.
 */
function fingerprint(job: Job): string {
  return JSON.stringify({ ...job, waiting: null });
}
