// A run with its jobs as text.
import type { Job } from '@wfg/shared/contract/job';
import type { Run, RunSummary } from '@wfg/shared/contract/run';
import { briefError } from '../follow/describe-event.ts';
import { type Column, type Paper, tableText } from '../table.ts';
import { ageText, spanText } from '../time-text.ts';
import { TINTS } from '../tint.ts';
import { type Fact, factsText } from './facts-text.ts';
import { waitingText } from './waiting-text.ts';

/** `ci #3`: numbers count the runs of one workflow. */
export function runName({ name, number }: RunSummary): string {
  return number === null ? name : `${name} #${number}`;
}

/** `now` in epoch milliseconds. */
export function runText(run: Run, page: string, paper: Paper, now: number): string {
  const facts: Fact[] = [
    { name: 'run', text: runName(run), tint: 'bold' },
    { name: 'status', text: run.status, tint: TINTS[run.status] },
    { name: 'id', text: run.run_id },
    { name: 'workflow', text: run.workflow_id ?? '' },
    { name: 'created', text: `${run.created_at}, ${ageText(now - Date.parse(run.created_at))} ago` },
    { name: 'duration', text: spanText(run.started_at, run.finished_at, now) },
    { name: 'rerun of', text: run.rerun_of ?? '' },
    { name: 'error', text: run.error ?? '' },
    { name: 'page', text: page },
  ];
  const jobs = run.jobs.length === 0 ? '' : `\n${tableText(columns(now), run.jobs, paper)}`;
  return `${factsText(facts, paper)}${jobs}`;
}

/** `1/3`; empty before the first. */
export function triesText({ tries, max_attempts }: Job): string {
  return tries === 0 ? '' : `${tries}/${max_attempts}`;
}

/** Empty for one that waits, whatever its last try took. */
export function jobSpan({ state, started_at, finished_at }: Job, now: number): string {
  return state === 'pending' ? '' : spanText(started_at, finished_at, now);
}

function columns(now: number): Column<Job>[] {
  return [
    { title: 'STATE', text: stateText, tint: (job) => TINTS[stateText(job)] },
    { title: 'JOB', text: (job) => job.job_id, shrinks: true },
    { title: 'TRY', text: triesText },
    { title: 'DURATION', text: (job) => jobSpan(job, now) },
    { title: 'WORKER', text: (job) => job.worker_id ?? '', shrinks: true },
    { title: 'WHY', text: why, shrinks: true },
  ];
}

export function stateText({ state, cancelling }: Job): Job['state'] | 'cancelling' {
  return cancelling ? 'cancelling' : state;
}

/** Why it has not run in this run, or does not run yet; empty if it has. */
export function whyNot(job: Job): string {
  if (job.reused_from !== null) return `not run again: taken over from run ${job.reused_from}`;
  if (job.state === 'skipped') return job.error ?? '';
  if (job.state === 'cancelled') return job.started_at === null ? 'cancelled before it began' : 'cancelled';
  return waitingText(job);
}

/** What its error is: one that goes on, waits or was cancelled has that of a try before, or of one that was stopped. */
export function errorName({ state }: Job): 'error' | 'last try' {
  return state === 'failed' ? 'error' : 'last try';
}

function why(job: Job): string {
  const error = job.state === 'skipped' || job.error === null ? '' : briefError(job.error);
  const named = error === '' || errorName(job) === 'error' ? error : `${errorName(job)}: ${error}`;
  return [whyNot(job), named].filter((part) => part !== '').join('; ');
}
