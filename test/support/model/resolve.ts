// Makes an act of what chance has chosen: which lease, which job, and what its worker has to say.
import type { Act, Grant, Told } from './act.ts';
import type { How, Line } from './choice.ts';
import type { Claimer, Job, Report } from './job.ts';
import type { Run } from './run.ts';

const WORKERS: readonly [Claimer, Claimer, Claimer] = [
  { worker_id: 'w1', is_foreign: false, lease_secs: 30 },
  { worker_id: 'w2', is_foreign: false, lease_secs: 30 },
  { worker_id: 'http', is_foreign: true, lease_secs: 20 },
];

interface Known {
  jobs: ReadonlyMap<string, Job>;
  runs: ReadonlyMap<string, Run>;
  /** The newest first. */
  grants: readonly Grant[];
}

/** Null: there is nothing that it could be about. */
export function resolve(known: Known, line: Exclude<Line, { do: 'tick' | 'end' }>): Act | null {
  const { jobs, runs, grants } = known;
  switch (line.do) {
    case 'claim':
      return {
        do: 'claim',
        by: WORKERS[line.worker] ?? WORKERS[0],
        limit: line.limit,
        nonce: String(grants.length + 1),
      };
    case 'report': {
      const told = chosen(grants, line.leases).map((grant) => tell(known, grant, line.how));
      return told.length === 0 ? null : { do: 'report', told };
    }
    case 'renew': {
      const [first, ...others] = chosen(grants, line.leases);
      if (!first) return null;
      if (first.by.is_foreign) return { do: 'renew over HTTP', grant: first };
      return { do: 'renew', grants: [first, ...others] };
    }
    case 'print': {
      const [grant] = chosen(grants, [line.lease]);
      return grant ? { do: 'print', grant, sequence: printed(known, grant) } : null;
    }
    case 'give up': {
      const own = chosen(grants, line.leases);
      return own.length === 0
        ? null
        : { do: 'give up', grants: own, error: line.at_fault ? 'it crashed' : null };
    }
    case 'cancel':
    case 'requeue': {
      const [job] = chosen([...jobs.values()], [line.job]);
      return job ? { do: line.do, job } : null;
    }
    case 'cancel run': {
      const [run] = chosen([...runs.values()], [line.run]);
      return run ? { do: line.do, run, force: line.force } : null;
    }
    default:
      return line;
  }
}

/** Each once. */
function chosen<T>(from: readonly T[], numbers: readonly number[]): T[] {
  const picked = numbers.flatMap((number) => from[number % from.length] ?? []);
  return [...new Set(picked)];
}

function printed({ jobs }: Known, grant: Grant): number {
  const job = jobs.get(grant.job);
  return job?.attempt === grant.attempt && job.nonce === grant.nonce ? job.printed : 0;
}

function tell(known: Known, grant: Grant, how: How): Told {
  const isTask = known.jobs.get(grant.job)?.kind === 'task';
  const chunks = printed(known, grant);
  return { grant, chunks, report: reportOf(how, isTask, `${grant.job}.${grant.attempt}#${grant.nonce}`) };
}

function reportOf(how: How, isTask: boolean, by: string): Report {
  const plain = { retryable: true, error: null, is_parked: false, outputs: null, next: null };
  switch (how) {
    case 'next':
      if (!isTask) return { ...plain, outcome: 'completed', outputs: by };
      return { ...plain, outcome: 'completed', next: { step: 'Second', delay_secs: 10 } };
    case 'parked':
      if (!isTask) return { ...plain, outcome: 'failed', retryable: false, error: 'no' };
      return { ...plain, outcome: 'failed', retryable: false, error: 'not decoded', is_parked: true };
    case 'completed':
      return { ...plain, outcome: how, outputs: by };
    case 'failed for good':
      return { ...plain, outcome: 'failed', retryable: false, error: `${by} failed` };
    default:
      return { ...plain, outcome: how, error: `${by} ${how}` };
  }
}
