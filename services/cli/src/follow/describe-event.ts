// What a change in a run looks like as one line of text.
import type { Job } from '@wfg/shared/contract/job';
import type { RunEvent } from '@wfg/shared/contract/live';
import { durationText } from '../time-text.ts';

export type Tone = 'good' | 'bad' | 'plain';

interface Description {
  text: string;
  tone: Tone;
}

/** Null for what is not worth a line. */
export function describeEvent(event: RunEvent): Description | null {
  switch (event.type) {
    case 'started':
      return plain(`started on ${event.worker_id}${attemptText(event.attempt)}`);
    case 'completed':
      return { text: `completed${took(event.job.started_at, event.at)}`, tone: 'good' };
    case 'failed':
      return event.retryable
        ? { text: `failed: ${briefError(event.error)}; tried again${atTime(event.retry_at)}`, tone: 'bad' }
        : { text: `failed${took(event.job.started_at, event.at)}: ${briefError(event.error)}`, tone: 'bad' };
    case 'lease_expired':
      return { text: `lost: nothing heard from ${event.worker_id} in time`, tone: 'bad' };
    case 'cancelled':
      return plain('cancelled');
    case 'skipped':
      return plain(`skipped: ${event.reason}`);
    case 'changed':
      return describeJob(event.job);
    default:
      return null;
  }
}

function describeJob(job: Job): Description | null {
  switch (job.state) {
    case 'active':
      return plain(
        job.cancelling ? 'is being cancelled' : `started on ${job.worker_id}${attemptText(job.attempt)}`,
      );
    case 'completed':
      return { text: `completed${took(job.started_at, job.finished_at)}`, tone: 'good' };
    case 'failed':
      return {
        text: `failed${took(job.started_at, job.finished_at)}: ${briefError(job.error)}`,
        tone: 'bad',
      };
    case 'skipped':
      return plain(job.error === null ? 'skipped' : `skipped: ${job.error}`);
    case 'cancelled':
      return plain('cancelled');
    case 'pending':
      return job.tries > 0
        ? { text: `to be tried again: ${briefError(job.error)}`, tone: 'bad' }
        : waitingText(job);
    default:
      return null;
  }
}

function waitingText({ waiting }: Job): Description | null {
  const isForWorker = waiting?.reason === 'no_worker' || waiting?.reason === 'capacity';
  return isForWorker ? plain(`waits: ${waiting.detail}`) : null;
}

function plain(text: string): Description {
  return { text, tone: 'plain' };
}

/** The first goes without saying. */
function attemptText(attempt: number): string {
  return attempt > 0 ? ` (attempt ${attempt})` : '';
}

/** A command's error ends with the tail of its output, which the reader has just seen. */
export function briefError(error: string | null): string {
  const text = error ?? 'no reason given';
  const how = /^(?:exit code -?\d+|signal \w+|timeout after \d+s)(?=: )/.exec(text);
  return how ? how[0] : (text.split('\n', 1)[0] ?? '');
}

function atTime(time: string | null): string {
  return time === null ? '' : ` at ${new Date(time).toLocaleTimeString('en-GB')}`;
}

/** ` in 2.1 s`, or nothing when a time is missing. */
export function took(from: string | null, to: string | null): string {
  if (!from || !to) return '';
  return ` in ${durationText(Date.parse(to) - Date.parse(from))}`;
}
