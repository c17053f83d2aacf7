// What a run must be: the reference for what a scheduler does with runs of three kinds of jobs, `root`, `next` (needs
// root) and `always` (needs root, runs whatever root did).
import type { RunRow } from './rows.ts';
import { cancel, isOver, type Job, release, skip } from './job.ts';

export interface Run extends RunRow {
  name: string;
  cancel_forced: boolean;
  cancel_at: number | null;
  timed_out_at: number | null;
  deadline_at: number | null;
}

/** The jobs of the run in which its wish to stop is to be put into effect. */
export function unheeding(run: Run, jobs: readonly Job[]): Job[] {
  const late = run.timed_out_at !== null;
  if (!run.cancel_asked && !late) return [];
  return jobs.filter((job) => {
    const spared = job.role === 'always' && !run.cancel_forced && !late;
    return !spared && !isOver(job) && !(job.state === 'active' && job.cancel_asked);
  });
}

/** The job is told of the run's wish. */
export function heed(run: Run, job: Job, now: number): Job {
  const out_of_time = job.state === 'active' && run.timed_out_at !== null;
  return { ...cancel(job, now), out_of_time };
}

export function askToCancel(run: Run, now: number, force: boolean): Run {
  return {
    ...run,
    cancel_asked: true,
    cancel_forced: run.cancel_forced || force,
    cancel_at: run.cancel_at ?? now,
    settled: false,
  };
}

export function isOutOfTime(run: Run, now: number): boolean {
  const late = run.deadline_at !== null && run.deadline_at < now;
  return run.state === 'open' && late && run.timed_out_at === null;
}

export function timeOut(run: Run, now: number): Run {
  const error = `timeout after ${run.deadline_at} s`;
  return { ...run, timed_out: true, timed_out_at: now, error, settled: false };
}

/** What a scheduler makes of a run in which something waits for it, and of its jobs. */
export function advance(run: Run, jobs: readonly Job[], now: number): { run: Run; jobs: Job[] } {
  const deaf = new Set(unheeding(run, jobs));
  const told = jobs.map((job) => (deaf.has(job) ? heed(run, job, now) : job));
  const root = told.find(({ role }) => role === 'root');
  const settled = told.map((job) => settle(job, root, now));
  const open = settled.filter((job) => !isOver(job)).length;
  const next = { ...run, open_jobs: open, settled: true };
  if (open > 0) return { run: next, jobs: settled };
  return { run: end(next, settled), jobs: settled.map((job) => ({ ...job, is_live: false })) };
}

function settle(job: Job, root: Job | undefined, now: number): Job {
  if (isOver(job)) return { ...job, settled: true };
  if (job.state !== 'blocked' || !root || !isOver(root)) return job;
  // One transition for what it waited for, one for its `if`.
  if (job.role === 'always') return release({ ...job, version: job.version + 1 }, now);
  if (root.state === 'completed') return release(job, now);
  return skip(job, now, `needs root, which ${root.state === 'failed' ? 'failed' : 'was cancelled'}`);
}

function end(run: Run, jobs: readonly Job[]): Run {
  const last = Math.max(...jobs.map(({ finished_at }) => finished_at ?? 0));
  const cutShort = run.timed_out_at !== null && run.timed_out_at <= last;
  const asked = run.cancel_at !== null && run.cancel_at <= last;
  const failed = cutShort || jobs.some(({ state }) => state === 'failed');
  const cancelled = jobs.some(({ state }) => state === 'cancelled');
  const ended = failed ? 'failed' : cancelled ? 'cancelled' : 'completed';
  return { ...run, state: asked ? 'cancelled' : ended, error: cutShort ? run.error : null };
}
