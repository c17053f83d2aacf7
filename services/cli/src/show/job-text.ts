// A job with its attempts and outputs as text.
import type { Attempt, JobWithOutputs } from '@wfg/shared/contract/job';
import { briefError } from '../follow/describe-event.ts';
import { type Column, type Paper, tableText } from '../table.ts';
import { spanText } from '../time-text.ts';
import { TINTS } from '../tint.ts';
import { factsText } from './facts-text.ts';
import { errorName, jobSpan, stateText, triesText, whyNot } from './run-text.ts';

interface ShownJob {
  run: string;
  job: JobWithOutputs;
  attempts: readonly Attempt[];
}

/** `now` in epoch milliseconds. */
export function jobText({ run, job, attempts }: ShownJob, paper: Paper, now: number): string {
  const state = stateText(job);
  const facts = factsText(
    [
      { name: 'job', text: job.job_id, tint: 'bold' },
      { name: 'name', text: job.name === job.job_id ? '' : job.name },
      { name: 'run', text: run },
      { name: 'state', text: state, tint: TINTS[state] },
      { name: 'try', text: triesText(job) },
      { name: 'duration', text: jobSpan(job, now) },
      { name: 'worker', text: job.worker_id ?? '' },
      { name: 'needs', text: job.depends_on.join(', ') },
      { name: 'labels', text: job.required_labels.join(', ') },
      { name: 'priority', text: job.priority === 0 ? '' : String(job.priority) },
      { name: 'why', text: whyNot(job) },
      { name: errorName(job), text: job.state === 'skipped' ? '' : (job.error ?? '') },
    ],
    paper,
  );
  const tried = attempts.length === 0 ? '' : `\n${tableText(columns(now), attempts, paper)}`;
  const outputs = Object.entries(job.outputs).map(([name, text]) => ({ name, text: text || '""' }));
  return `${facts}${tried}${outputs.length === 0 ? '' : `\noutputs\n${factsText(outputs, paper)}`}`;
}

function columns(now: number): Column<Attempt>[] {
  return [
    { title: 'ATTEMPT', text: ({ attempt }) => String(attempt) },
    { title: 'TRY', text: (attempt) => String(attempt.try) },
    { title: 'OUTCOME', text: outcomeOf, tint: (attempt) => TINTS[outcomeOf(attempt)] },
    { title: 'EXIT', text: ({ exit_code }) => (exit_code === null ? '' : String(exit_code)) },
    { title: 'DURATION', text: (attempt) => spanText(attempt.started_at, attempt.finished_at, now) },
    { title: 'LINES', text: ({ log }) => String(log.lines) },
    { title: 'WORKER', text: ({ worker_id }) => worker_id, shrinks: true },
    { title: 'ERROR', text: ({ error }) => (error === null ? '' : briefError(error)), shrinks: true },
  ];
}

function outcomeOf({ outcome }: Attempt): keyof typeof TINTS {
  return outcome ?? 'active';
}
