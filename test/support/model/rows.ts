// Reads the rows as the reference has them.
import type { JobState, Outcome } from '@wfg/shared/contract/job';
import type { Queryable } from '@wfg/shared/db/pool';
import type { Job } from './job.ts';

/** What is compared of a run. */
export interface RunRow {
  id: string;
  state: 'open' | 'completed' | 'failed' | 'cancelled';
  cancel_asked: boolean;
  timed_out: boolean;
  settled: boolean;
  open_jobs: number;
  error: string | null;
}

/** What is compared of a job: live, or in history. */
export type JobRow = Pick<
  Job,
  | 'run_id'
  | 'position'
  | 'is_live'
  | 'version'
  | 'step'
  | 'attempt'
  | 'tries'
  | 'losses'
  | 'max_attempts'
  | 'run_at'
  | 'expires_at'
  | 'worker_id'
  | 'nonce'
  | 'lease_secs'
  | 'lease_expires_at'
  | 'cancel_asked'
  | 'out_of_time'
  | 'error'
  | 'outputs'
  | 'started_at'
  | 'finished_at'
  | 'settled'
> & { state: JobState; outcome: Outcome | null };

export interface Rows {
  jobs: JobRow[];
  runs: RunRow[];
}

/** The clock of a history stands still until it is moved; its first second. */
export const BEGIN = `${new Date().toISOString().slice(0, 10)}T00:00:00Z`;

const secs = (column: string) => `extract(epoch from ${column} - '${BEGIN}'::timestamptz)::float8`;

const COLUMNS = `run_id, position, state, version, step, attempt, tries, losses, max_attempts, ${secs('run_at')} as run_at,
  ${secs('expires_at')} as expires_at, worker_id, case when nonce > 0 then nonce::text end as nonce, lease_secs,
  ${secs('lease_expires_at')} as lease_expires_at, cancel_requested_at is not null as cancel_asked, out_of_time, outcome,
  error, outputs ->> 'by' as outputs, ${secs('started_at')} as started_at, ${secs('finished_at')} as finished_at, settled`;

const READ = `
select (
  select coalesce(json_agg(j), '[]') from (
    select true as is_live, ${COLUMNS} from wfg_jobs union all select false, ${COLUMNS} from wfg_history
  ) j
) as jobs, (
  select coalesce(json_agg(r), '[]') from (
    select id, state, cancel_requested_at is not null as cancel_asked, timed_out_at is not null as timed_out, settled,
      open_jobs, error
    from wfg_runs
  ) r
) as runs`;

export async function readRows(db: Queryable): Promise<Rows> {
  const { rows } = await db.query<Rows>(READ);
  return rows[0] ?? { jobs: [], runs: [] };
}
