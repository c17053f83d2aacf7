// When a job waited and ran: as spans of milliseconds since 1970. Pure.
import type { Attempt, Job } from '@wfg/shared/contract/job';
import type { Tone } from '../parts/face.ts';
import { faceOfJob } from '../parts/face.ts';

export interface Span {
  kind: 'wait' | 'run';
  from: number;
  /** Null while it goes on. */
  to: number | null;
  tone: Tone;
  /** Of a run: which attempt, from 0. */
  attempt: number | null;
}

const at = (time: string | null) => (time === null ? null : Date.parse(time));

/**
 * Of a job that could begin at `ready`, null if it could not yet; `earlier` has its attempts where it had several. A job
 * that was taken over from another run, or never ran, has none.
 */
export function spansOf(job: Job, ready: number | null, earlier: readonly Attempt[]): Span[] {
  if (job.reused_from !== null || ready === null) return [];
  const started = at(job.started_at);
  const last: Omit<Span, 'kind'> | null =
    started === null || (job.state !== 'active' && job.finished_at === null)
      ? null
      : {
          from: started,
          to: job.state === 'active' ? null : at(job.finished_at),
          tone: faceOfJob(job).tone,
          attempt: job.attempt,
        };
  const runs = earlier.flatMap(({ attempt, started_at, finished_at, outcome }) =>
    attempt === last?.attempt
      ? []
      : [{ from: Date.parse(started_at), to: at(finished_at), tone: toneOf(outcome), attempt }],
  );
  if (last) runs.push({ ...last, attempt: job.attempt });
  const spans: Span[] = [];
  let free = ready;
  for (const run of runs.toSorted((a, b) => a.from - b.from)) {
    if (run.from > free) spans.push({ kind: 'wait', from: free, to: run.from, tone: 'wait', attempt: null });
    spans.push({ kind: 'run', ...run });
    free = run.to ?? Number.POSITIVE_INFINITY;
  }
  if (job.state === 'pending')
    spans.push({ kind: 'wait', from: free, to: null, tone: 'wait', attempt: null });
  return spans;
}

function toneOf(outcome: Attempt['outcome']): Tone {
  if (outcome === 'completed') return 'good';
  return outcome === 'failed' || outcome === 'timed_out' ? 'bad' : 'warn';
}

type Timed = Pick<Job, 'job_id' | 'depends_on' | 'finished_at' | 'state'>;

/** When each job could begin: when the run was made, or the last of what it needs had ended; null if that has not. */
export function readyTimes(jobs: readonly Timed[], created: number): Map<string, number | null> {
  const byId = new Map(jobs.map((job) => [job.job_id, job]));
  return new Map(
    jobs.map(({ job_id, depends_on }) => {
      let ready: number | null = created;
      for (const need of depends_on) {
        const end = at(byId.get(need)?.finished_at ?? null);
        if (end === null) return [job_id, null];
        ready = Math.max(ready, end);
      }
      return [job_id, ready];
    }),
  );
}

/**
 * The jobs that the run's length is made of: the one that ended last, or goes on, the one before it that ended last, and
 * so on to the first.
 */
export function criticalPath(jobs: readonly Timed[]): Set<string> {
  const byId = new Map(jobs.map((job) => [job.job_id, job]));
  const endOf = (job: Timed) =>
    job.state === 'active' ? Number.POSITIVE_INFINITY : (at(job.finished_at) ?? Number.NEGATIVE_INFINITY);
  const last = (of: readonly Timed[]) => of.toSorted((a, b) => endOf(b) - endOf(a))[0];
  const path = new Set<string>();
  const ran = jobs.filter(
    ({ state, finished_at }) => state === 'active' || (finished_at !== null && state !== 'skipped'),
  );
  for (let job = last(ran); job; job = last(job.depends_on.flatMap((id) => byId.get(id) ?? [])))
    path.add(job.job_id);
  return path;
}
